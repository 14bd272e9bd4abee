/**
 * What this gateway fetches because a stranger named its address: which addresses it may ask at
 * all, and how much of the answer it takes. A stranger must reach nothing with it that the stranger
 * could not reach alone: no machine of our network, no metadata service, not the gateway itself.
 *
 * Only the name of a host is judged here. What it resolves to is the platform's to judge: a Worker
 * cannot look, and an answer that was looked up could be another one by the time of the fetch.
 */

import { jsonDepth } from "./json-depth.ts";
import { mediaType } from "./media-type.ts";
import { readText, TooLargeError } from "./read-text.ts";
import { abortAfter } from "./time-out.ts";
import { tryJson } from "./try-json.ts";

export interface EgressPolicy {
  /** The names of the gateway itself, as `URL.hostname` yields them. */
  readonly ownHosts: ReadonlySet<string>;
}

/** Names that lead into a private network, or nowhere. */
const PRIVATE_SUFFIXES = [
  ...["arpa", "corp", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain"],
  ...["localhost", "onion", "private", "test"],
].map((name) => `.${name}`);

/** Cloud metadata services with public names; the others are IP addresses or end in `.internal`. */
const METADATA_HOSTS: ReadonlySet<string> = new Set([
  "metadata.goog",
  "metadata.packet.net",
  "metadata.platformequinix.com",
  "metadata.tencentyun.com",
]);

/** @returns why this address is not asked, as a sentence; `undefined` when it may be. */
export function judgeEgress(url: URL, { ownHosts }: EgressPolicy): string | undefined {
  if (url.username !== "" || url.password !== "") return "The address has credentials in it.";
  if (url.protocol !== "https:") return "The address is not an https address.";
  if (url.port !== "") return "The address has a port other than 443.";
  const host = url.hostname;
  // `URL` has turned every spelling of an address (octal, hexadecimal, one number) into these two.
  if (host.startsWith("[") || /^\d+(?:\.\d+){3}$/.test(host)) {
    return "The host is an IP address and not a name.";
  }
  if (host.endsWith(".")) return "The host name ends in a dot.";
  if (!host.includes(".")) return "The host name has no dot in it.";
  if (ownHosts.has(host)) return "The host is this gateway itself.";
  if (METADATA_HOSTS.has(host) || PRIVATE_SUFFIXES.some((suffix) => host.endsWith(suffix))) {
    return "The host name belongs to a private network.";
  }
  return undefined;
}

/**
 * What went wrong, in one word for whoever operates the gateway. A stranger is told that it could
 * not be loaded and nothing else: the difference between two of these maps a network.
 */
export type LoadFailure =
  | "refused"
  | "unreachable"
  | "timeout"
  | "redirect"
  | "gone"
  | "status"
  | "media-type"
  | "too-large"
  | "malformed";

export type LoadOutcome =
  | { readonly kind: "loaded"; readonly value: unknown; readonly headers: Headers }
  | { readonly kind: "failed"; readonly why: LoadFailure };

export interface LoadOptions {
  readonly fetch: (url: URL, init: RequestInit) => Promise<Response>;
  readonly policy: EgressPolicy;
  readonly maxBytes: number;
  /** For all of it: the connection, the headers and the body. */
  readonly timeoutMs: number;
}

const MAX_DEPTH = 32;
/** Firewalls refuse requests that do not say who asks. */
const HEADERS = { Accept: "application/json", "User-Agent": "edgeway" };

/**
 * Loads a JSON document with `GET`, from exactly this address: a redirect is a failure, since
 * whoever shows the host of the address would show a host that the document is not from.
 */
export async function loadJson(url: URL, options: LoadOptions): Promise<LoadOutcome> {
  if (judgeEgress(url, options.policy) !== undefined) return failed("refused");
  return abortAfter(options.timeoutMs, (signal) => load(url, signal, options));
}

async function load(
  url: URL,
  signal: AbortSignal,
  { fetch, maxBytes }: LoadOptions,
): Promise<LoadOutcome> {
  try {
    const response = await fetch(url, { redirect: "manual", headers: HEADERS, signal });
    const why = judgeResponse(response);
    if (why !== undefined) {
      await response.body?.cancel().catch(() => undefined); // it is not wanted, however it ends
      return failed(why);
    }
    const text = await readText(response.body, maxBytes);
    const value = jsonDepth(text, MAX_DEPTH) > MAX_DEPTH ? undefined : tryJson(text);
    if (value === undefined) return failed("malformed");
    return { kind: "loaded", value, headers: response.headers };
  } catch (error) {
    if (error instanceof TooLargeError) return failed("too-large");
    return failed(signal.aborted ? "timeout" : "unreachable");
  }
}

function judgeResponse({ status, headers }: Response): LoadFailure | undefined {
  if (status >= 300 && status < 400) return "redirect";
  if (status === 404 || status === 410) return "gone";
  if (status !== 200) return "status";
  const type = mediaType(headers.get("content-type"));
  return /^application\/(?:[^/]+\+)?json$/.test(type) ? undefined : "media-type";
}

function failed(why: LoadFailure): LoadOutcome {
  return { kind: "failed", why };
}
