/**
 * Why no response came, in a few words of our own for the log. The errors of the platform are told
 * by their texts, since they have no codes; their texts go nowhere, for they may quote the URL.
 */

import { isLoopback } from "../lib/loopback.ts";

/** workerd says the same of a connection that is refused and of one that breaks. */
const CONNECTION_LOST = /^Network connection lost/;
/** workerd says so of a name that does not resolve and of TLS, and writes which to its own log. */
const INTERNAL = /^internal error; reference = (\w{1,64})$/;
const NO_BINDING = /^(?:Worker "|Couldn't find)/;
const ADDRESS = /^(?:\[.*\]|[\d.]+)$/;

/** @param cause what `fetch` threw. */
export function connectionFailure(cause: unknown, { protocol, hostname }: URL): string {
  const { name, message } = cause instanceof Error ? cause : new Error("");
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
 * What Cloudflare answers in the place of a server that it cannot reach: deployed, `fetch` throws
 * for none of them. (Cloudflare's documentation of its 5xx errors.)
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
