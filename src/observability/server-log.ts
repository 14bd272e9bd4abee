/** That an upstream is well again, or no longer: one line for each change, and none in between. */

import type { HealthState } from "./health.ts";

/** @param reason one word of our own, of a state that has one. */
export function logServer(server: string, state: HealthState, reason?: string): void {
  const line = JSON.stringify({ event: "server", server, state, reason });
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  if (state === "healthy") console.log(line);
  // oxlint-disable-next-line no-console -- as above
  else console.warn(line);
}
