/**
 * Logs the link with which the owner of a new gateway gets a code. Only the operator can read a Worker's
 * log; visitors of the pages do not see it.
 */

export function logSetupLink(link: string): void {
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.log(
    `This gateway has no owner yet. To set it up, open this link within 30 minutes; it works once: ${link}`,
  );
}
