/** Lines of the log about a server: its health, its resources, and why it was not reached. */

import { cleanText } from "../lib/clean-text.ts";
import { loggableUri } from "./call-record.ts";
import type { HealthState, ResourceConflict } from "./health.ts";

/** Logs a change of a server's health. @param reason one word of the gateway's, for a state that has one. */
export function logServer(server: string, state: HealthState, reason?: string): void {
  const line = JSON.stringify({ event: "server", server, state, reason });
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  if (state === "healthy") console.log(line);
  // oxlint-disable-next-line no-console -- as above
  else console.warn(line);
}

const MAX_URI_CHARS = 200;

/** Logs that a server loses resources to another. The URIs are shortened like those of calls. */
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

interface UpstreamLine {
  readonly server: string;
  /** One word of the gateway's. */
  readonly reason: string;
  /** The platform's error of the connection, in a few words of the gateway's. */
  readonly cause?: string | undefined;
  readonly status?: number | undefined;
}

/** Logs why a call or a catalog read did not reach its server. */
export function logUpstream({ server, reason, cause, status }: UpstreamLine): void {
  const line = { event: "upstream_failed", server, reason, cause, status };
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.warn(JSON.stringify(line));
}
