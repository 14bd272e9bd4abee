/** Loads the documents in which servers and authorization servers describe themselves. */

import { type EgressPolicy, loadJson, type LoadOptions } from "../../lib/egress.ts";
import { isLoopback } from "../../lib/loopback.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import type { OAuthSettings } from "../settings.ts";

export interface MetadataAccess {
  readonly fetch: LoadOptions["fetch"];
  readonly policy: EgressPolicy;
}

export type LoadedMetadata =
  | { readonly kind: "document"; readonly document: JsonObject }
  /** There is no document: a client error, a redirect, a page for people, an address that is not fetched. */
  | { readonly kind: "absent" }
  /** No answer, or a failure of the server: it may have the document all the same. */
  | { readonly kind: "unreachable"; readonly status?: number }
  /** There is one that is not a JSON object, or too large. */
  | { readonly kind: "invalid" };

const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 10_000;

/**
 * Anybody who runs a configured server can name addresses to be fetched, so these have to be public.
 * What the operator has configured may be private, and parties on this machine may name one another.
 */
export function egressPolicyFor(
  endpoint: URL,
  settings: Partial<OAuthSettings>,
  ownHosts: ReadonlySet<string>,
): EgressPolicy {
  const { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = settings;
  const configured = [issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint]
    .filter((address) => address !== undefined && URL.canParse(address))
    .map((address) => new URL(address ?? "").origin);
  return {
    ownHosts,
    configuredOrigins: new Set([endpoint.origin, ...configured]),
    allowsLoopback: isLoopback(endpoint.hostname),
  };
}

/** Sends one GET request. No redirect is followed: it would lead past the rules for addresses. */
export async function loadMetadata(url: URL, access: MetadataAccess): Promise<LoadedMetadata> {
  const loaded = await loadJson(url, { ...access, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS });
  if (loaded.kind === "loaded") {
    const { value } = loaded;
    return isObject(value) ? { kind: "document", document: value } : { kind: "invalid" };
  }
  switch (loaded.why) {
    case "unreachable":
    case "timeout":
      return { kind: "unreachable" };
    case "too-large":
    case "malformed":
      return { kind: "invalid" };
    case "status": {
      const { status = 0 } = loaded;
      const isFailing = status >= 500 || status === 429;
      return isFailing ? { kind: "unreachable", status } : { kind: "absent" };
    }
    default:
      return { kind: "absent" };
  }
}

/** More than any document has that was seen. */
const MAX_ENTRIES = 1000;
const KEPT_ENTRIES = 100;

/** @returns the strings of a list, the first hundred; `undefined` when there is none, or far too many. */
export function stringsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_ENTRIES) return undefined;
  return value.filter((entry) => typeof entry === "string").slice(0, KEPT_ENTRIES);
}
