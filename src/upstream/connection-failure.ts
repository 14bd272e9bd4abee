/**
 * Describes for the log, in a few words of our own, why no response came. The errors of the platform
 * have no codes, so they are recognised by their texts, which are never logged: they may quote the URL.
 */

import { isLoopback } from "../lib/loopback.ts";

/** workerd has one text for a refused connection and for one that breaks. */
const CONNECTION_LOST = /^Network connection lost/;
/** workerd's text for an unresolved name and for a failure of TLS; its own log has which it was. */
const INTERNAL = /^internal error; reference = (\w{1,64})$/;
const NO_BINDING = /^(?:Worker "|Couldn't find)/;
const ADDRESS = /^(?:\[.*\]|[\d.]+)$/;

/** @param error that `fetch` threw. */
export function connectionFailure(error: unknown, { protocol, hostname }: URL): string {
  const { name, message } = error instanceof Error ? error : new Error("");
  if (name === "TimeoutError") return "timed out";
  if (CONNECTION_LOST.test(message)) return "connection refused, or closed before a response";
  if (NO_BINDING.test(message)) return "no Worker is bound there";
  const [, reference] = INTERNAL.exec(message) ?? [];
  if (reference === undefined) return `fetch failed (${/^\w{1,40}$/.exec(name)?.[0] ?? "unknown"})`;
  return `${nameOrTls(protocol, hostname)} (the runtime's reference ${reference})`;
}

function nameOrTls(protocol: string, hostname: string): string {
  if (protocol !== "https:") return "name not resolved";
  const hasNoName = isLoopback(hostname) || ADDRESS.test(hostname);
  return hasNoName ? "TLS handshake failed" : "name not resolved, or TLS handshake failed";
}

/**
 * The statuses that Cloudflare answers with in place of a server that it cannot reach: deployed,
 * `fetch` throws for none of them. (Cloudflare's documentation of its 5xx errors.)
 */
const PLATFORM_STATUSES: Readonly<Record<number, string>> = {
  521: "connection refused",
  522: "timed out",
  523: "no route to the server",
  524: "timed out",
  525: "TLS handshake failed",
  526: "TLS certificate not valid",
  530: "name not resolved, or another error of the platform's own",
};

export function failureOfStatus(status: number | undefined): string | undefined {
  return status === undefined ? undefined : PLATFORM_STATUSES[status];
}
