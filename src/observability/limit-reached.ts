/**
 * That a limit of everybody's is reached: from then on some are turned away for what others did, and
 * the operator may want to know who.
 */

/** @param limit its name in `LIMITS`. */
export function logLimitReached(limit: string, value: number): void {
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.warn(JSON.stringify({ event: "limit_reached", limit, value }));
}
