/**
 * The documents that OpenID providers publish: metadata and keys. One instance serves all requests
 * of an isolate, so it holds values and returns copies: the library remembers promises by the
 * object that it was given, and a promise belongs to the request that made it.
 */

import {
  allowInsecureRequests,
  type AuthorizationServer,
  customFetch,
  discoveryRequest,
  type JWKS,
  type JWKSCacheInput,
  OperationProcessingError,
  processDiscoveryResponse,
} from "oauth4webapi";

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { isLoopback } from "../../lib/loopback.ts";
import { ALGORITHMS } from "./id-token.ts";
import { type ProviderFetch, isSafe } from "./provider-fetch.ts";
import { SignInError } from "./sign-in-error.ts";

const MAX_PROVIDERS = 64;
const METADATA_TTL_MS = 3_600_000;
/** The library accepts no older keys, and fetches sooner when a key is missing. */
const KEYS_TTL_MS = 300_000;

/** The keys of an issuer, and when they were fetched, in seconds since 1970. */
export interface FetchedKeys {
  readonly jwks: JWKS;
  readonly uat: number;
}

export class ProviderDocuments {
  readonly #metadata = new BoundedCache<AuthorizationServer>({
    maxEntries: MAX_PROVIDERS,
    ttlMs: METADATA_TTL_MS,
  });
  readonly #keys = new BoundedCache<FetchedKeys>({ maxEntries: MAX_PROVIDERS, ttlMs: KEYS_TTL_MS });

  /** @throws SignInError when the provider cannot be reached, or its metadata is invalid. */
  async metadata(issuer: string, fetch: ProviderFetch): Promise<AuthorizationServer> {
    const known = this.#metadata.get(issuer);
    if (known !== undefined) return structuredClone(known);
    const found = await discover(issuer, fetch);
    this.#metadata.set(issuer, found);
    return structuredClone(found);
  }

  /** @param address the address of the keys, or their issuer. */
  keys(address: string): FetchedKeys | undefined {
    const known = this.#keys.get(address);
    return known === undefined ? undefined : structuredClone(known);
  }

  remember(address: string, keys: FetchedKeys): void {
    this.#keys.set(address, structuredClone(keys));
  }

  /** Gives the library the stored keys, and stores those that it fetched. */
  async withKeys<T>(issuer: string, use: (keys: JWKSCacheInput) => Promise<T>): Promise<T> {
    const keys: JWKSCacheInput = this.keys(issuer) ?? {};
    try {
      return await use(keys);
    } finally {
      if (isFetched(keys)) this.remember(issuer, keys);
    }
  }
}

/**
 * @returns the library's options: the fetch, and plain http where the issuer is on this machine.
 */
export function requestOptions(issuer: string, fetch: ProviderFetch) {
  return {
    [customFetch]: (url: string, init: object) => fetch(new URL(url), init),
    [allowInsecureRequests]: isLoopback(new URL(issuer).hostname),
  };
}

function isFetched(keys: JWKSCacheInput): keys is FetchedKeys {
  return "jwks" in keys && "uat" in keys;
}

async function discover(issuer: string, fetch: ProviderFetch): Promise<AuthorizationServer> {
  const found = await readMetadata(new URL(issuer), fetch);
  // Compared byte for byte (OpenID Connect Discovery 4.3): the library accepts different URLs as
  // equal.
  if (found.issuer !== issuer) {
    throw new SignInError("provider-error", "The provider's metadata names another issuer.");
  }
  for (const endpoint of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    if (!isUsable(found[endpoint], issuer)) {
      throw new SignInError("provider-error", `The provider's metadata has no usable ${endpoint}.`);
    }
  }
  const declared = found.id_token_signing_alg_values_supported ?? ["RS256"];
  const accepted = declared.filter((alg) => ALGORITHMS.includes(alg));
  return { ...found, id_token_signing_alg_values_supported: accepted };
}

async function readMetadata(issuer: URL, fetch: ProviderFetch): Promise<AuthorizationServer> {
  try {
    const response = await discoveryRequest(issuer, requestOptions(issuer.href, fetch));
    return await processDiscoveryResponse(issuer, response);
  } catch (cause) {
    if (!(cause instanceof OperationProcessingError)) throw cause;
    const detail = 'There is no valid metadata at the issuer; check "issuer" in IDENTITY.';
    throw new SignInError("provider-error", detail, { cause });
  }
}

/** The browser or a secret is sent there: no other scheme, and no plain http over a network. */
function isUsable(endpoint: string | undefined, issuer: string): boolean {
  const url = endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !isSafe(url)) return false;
  return url.protocol === "https:" || isLoopback(new URL(issuer).hostname);
}
