/**
 * Authentication of a document's client at the token endpoint: with nothing (`none`, with PKCE), or
 * with a key of its own (`private_key_jwt`, RFC 7523). It cannot have a secret: its document is
 * public, and it never registered.
 */

import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";

/** The algorithms that a client may sign with: asymmetric, and known to every runtime. */
export const SIGNING_ALGORITHMS = ["ES256", "RS256", "EdDSA", "PS256"] as const;
type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

export interface JwkSet {
  readonly keys: readonly JsonObject[];
}

/** The location of a client's keys, and the algorithms that it may sign with. */
export type AssertionKeys = (
  | { readonly jwks: JwkSet; readonly jwksUri?: undefined }
  | { readonly jwksUri: string; readonly jwks?: undefined }
) & { readonly algorithms: readonly SigningAlgorithm[] };

export type AuthMethod = "none" | "private_key_jwt";

export interface ClientAuthentication {
  /**
   * At least one. The client does not learn which of them this server chose, so each has to work.
   */
  readonly methods: readonly [AuthMethod, ...AuthMethod[]];
  /** Present when `private_key_jwt` is one of the methods. */
  readonly keys?: AssertionKeys;
}

export type AuthenticationProblem = "has-secret" | "has-private-key" | "bad-keys" | "bad-method";

const SHARED_SECRETS: ReadonlySet<unknown> = new Set([
  ...["client_secret_basic", "client_secret_post", "client_secret_jwt"],
]);
/** Members of a JWK that only the owner of the key may know (RFC 7518, RFC 8037, RFC 9964). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/** @returns the methods that the document offers and this server supports, or what is wrong. */
export function readAuthentication(
  document: JsonObject,
): ClientAuthentication | AuthenticationProblem {
  const { token_endpoint_auth_method: preferred, jwks } = document;
  if ("client_secret" in document || "client_secret_expires_at" in document) return "has-secret";
  if (jwks !== undefined && !isJwkSet(jwks)) return "bad-keys";
  if (jwks?.keys.some(isPrivate) === true) return "has-private-key";
  const supported = document["token_endpoint_auth_methods_supported"] ?? [preferred ?? "none"];
  if (!Array.isArray(supported) || SHARED_SECRETS.has(preferred)) return "bad-method";
  if (preferred !== undefined && !supported.includes(preferred)) return "bad-method";

  const keys = supported.includes("private_key_jwt") ? readKeys(document, jwks) : undefined;
  const isPublic = supported.includes("none");
  if (keys !== undefined) {
    return { methods: isPublic ? ["none", "private_key_jwt"] : ["private_key_jwt"], keys };
  }
  if (isPublic) return { methods: ["none"] };
  return supported.includes("private_key_jwt") ? "bad-keys" : "bad-method";
}

/** @returns `undefined` when no signature could be verified with these keys. */
function readKeys(document: JsonObject, jwks: JwkSet | undefined): AssertionKeys | undefined {
  const { jwks_uri: jwksUri, token_endpoint_auth_signing_alg: only } = document;
  const algorithms = SIGNING_ALGORITHMS.filter((alg) => only === undefined || only === alg);
  if (algorithms.length === 0) return undefined;
  if (jwks === undefined) return isKeyUrl(jwksUri) ? { jwksUri, algorithms } : undefined;
  // RFC 7591 section 2: not both.
  return jwks.keys.length > 0 && jwksUri === undefined ? { jwks, algorithms } : undefined;
}

function isKeyUrl(value: unknown): value is string {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, username, password, hash } = new URL(value);
  return protocol === "https:" && username === "" && password === "" && hash === "";
}

export function isJwkSet(value: unknown): value is JwkSet {
  return isObject(value) && Array.isArray(value["keys"]) && value["keys"].every(isObject);
}

function isPrivate(key: JsonObject): boolean {
  return PRIVATE_MEMBERS.some((member) => member in key);
}
