/** Lines of the log for the operator, about the gateway itself. */

/**
 * Logs that a limit shared by all clients is reached: from then on, clients are refused because of other
 * clients, and the operator may want to find those.
 *
 * @param limit its name in `LIMITS`.
 */
export function logLimitReached(limit: string, value: number): void {
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.warn(JSON.stringify({ event: "limit_reached", limit, value }));
}

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
