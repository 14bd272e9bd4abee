/**
 * Logs that a limit shared by all clients is reached: from then on, clients are refused because of other
 * clients, and the operator may want to find those.
 */

/** @param limit its name in `LIMITS`. */
export function logLimitReached(limit: string, value: number): void {
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.warn(JSON.stringify({ event: "limit_reached", limit, value }));
}
