/**
 * Fetches from URLs that untrusted parties name: which URLs the gateway may fetch, and how much of a
 * response it reads. It must give such a party no access beyond its own: not to the private network, not
 * to a metadata service, not to the gateway itself.
 *
 * Only the host's name is checked here. The platform has to check the address: a Worker cannot resolve
 * names, and the name could resolve to another address by the time of the fetch.
 */

import { isLoopback } from "./loopback.ts";
import { mediaType } from "./media-type.ts";
import { readText, TooLargeError } from "./read-text.ts";
import { scanJson } from "./scan-json.ts";
import { abortAfter } from "./time-out.ts";
import { tryJson } from "./try-json.ts";

export interface EgressPolicy {
  /** The gateway's own host names, as `URL.hostname` yields them. */
  readonly ownHosts: ReadonlySet<string>;
  /** Origins that the operator has configured. They may be private, have a port, and do without TLS. */
  readonly configuredOrigins?: ReadonlySet<string>;
  /** True when every party is on this machine: then its ports and plain http are fetched, too. */
  readonly allowsLoopback?: boolean;
}

/** Suffixes of names in private networks, and of names that are never public. */
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

/** @returns the reason why this URL is not fetched, as a sentence; `undefined` when it may be. */
export function judgeEgress(url: URL, policy: EgressPolicy): string | undefined {
  const { ownHosts, configuredOrigins, allowsLoopback = false } = policy;
  if (url.username !== "" || url.password !== "") return "The address has credentials in it.";
  if (configuredOrigins?.has(url.origin) === true) return undefined;
  if (allowsLoopback && /^https?:$/.test(url.protocol) && isLoopback(url.hostname))
    return undefined;
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
 * The cause of a failure, in one word for the operator. The untrusted party learns only that the load
 * failed: the difference between two causes would map a network.
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
  /** The status is there where it is the reason. */
  | { readonly kind: "failed"; readonly why: LoadFailure; readonly status?: number };

export interface LoadOptions {
  readonly fetch: (url: URL, init: RequestInit) => Promise<Response>;
  readonly policy: EgressPolicy;
  readonly maxBytes: number;
  /** For the connection, the headers and the body together. */
  readonly timeoutMs: number;
}

const MAX_DEPTH = 32;
/** Firewalls refuse requests without a `User-Agent`. */
const HEADERS = { Accept: "application/json", "User-Agent": "edgeway" };

/**
 * Loads a JSON document with `GET` from exactly this URL. A redirect is a failure, since pages show the
 * URL's host to users as the origin of the document.
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
      return why === "status" ? { kind: "failed", why, status: response.status } : failed(why);
    }
    const text = await readText(response.body, maxBytes);
    const isTooDeep = scanJson(text, { depth: MAX_DEPTH }).depth > MAX_DEPTH;
    const value = isTooDeep ? undefined : tryJson(text);
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
