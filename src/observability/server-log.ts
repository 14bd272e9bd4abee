/** That an upstream is well again, or no longer: one line for each change, and none in between. */

import { cleanText } from "../lib/clean-text.ts";
import { loggableUri } from "./call-log.ts";
import type { HealthState, ResourceConflict } from "./health.ts";

/** @param reason one word of our own, of a state that has one. */
export function logServer(server: string, state: HealthState, reason?: string): void {
  const line = JSON.stringify({ event: "server", server, state, reason });
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  if (state === "healthy") console.log(line);
  // oxlint-disable-next-line no-console -- as above
  else console.warn(line);
}

const MAX_URI_CHARS = 200;

/** That a server gives up resources to another. Their URIs are written as those of calls are. */
export function logConflict({ server, with: other, message, uris }: ServerConflict): void {
  const shown = uris.map((uri) => cleanText(loggableUri(uri), MAX_URI_CHARS));
  const line = { event: "resource_conflict", server, with: other, message, uris: shown };
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.warn(JSON.stringify(line));
}

interface ServerConflict extends ResourceConflict {
  readonly server: string;
  readonly with: string;
}
