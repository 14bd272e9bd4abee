/**
 * The link with which the owner of a new gateway gets a code. The log of a Worker is where its
 * operator reads, and nobody else: whoever visits the pages does not see it.
 */

export function logSetupLink(link: string): void {
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.log(
    `This gateway has no owner yet. To set it up, open this link within 30 minutes; it works once: ${link}`,
  );
}
