/** Lines of the log for the operator, about the gateway itself. */

import type { EntryNotice } from "./health.ts";

/** Logs a mistake in the configuration that keeps the whole gateway from serving. */
export function logMistake(message: string): void {
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.error(JSON.stringify({ event: "configuration", message }));
}

/** Logs that an entry of `MCP_SERVERS` is not served as it is written. */
export function logEntry({ name, slug, state, sentences }: EntryNotice): void {
  const line = {
    event: "configuration",
    server: slug ?? name,
    state,
    message: sentences.join(" "),
  };
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  if (state === "off") console.log(JSON.stringify(line));
  // oxlint-disable-next-line no-console -- as above
  else console.warn(JSON.stringify(line));
}

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
