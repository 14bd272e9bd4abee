/**
 * Checks of an authorization request before the library reads it, for what the library lets pass:
 * repeated parameters, parameters of profiles that are not served, missing PKCE of clients with a
 * secret, and the spellings of a resource that real clients send.
 */

import { canonicalResource } from "../../resources.ts";
import { redirectKind } from "../../clients/redirect-uris.ts";

/**
 * An OAuth error to send to the client, once the client and its redirect URI are known to be valid.
 */
export interface Objection {
  /** An error code of RFC 6749 section 4.1.2.1 or of its extensions. */
  readonly code: string;
  readonly description: string;
  /** For the login doctor. */
  readonly reason: "malformed" | "unsupported" | "no-pkce" | "unknown-resource" | "unknown-scope";
}

export type AuthorizeReading =
  /** Only the person can be shown this error: no redirect URI is known to be valid. */
  | { readonly kind: "unreadable"; readonly status: 400 | 414; readonly sentence: string }
  | {
      readonly kind: "read";
      /** The request for the library. */
      readonly request: Request;
      readonly clientId: string;
      readonly redirectUri: string;
      readonly state: string;
      /** The error to send if the library itself finds none. */
      readonly objection: Objection | undefined;
      /** The client demands a consent page, whatever the user answered before. */
      readonly asksForConsent: boolean;
      /** The client demands a new sign-in. */
      readonly asksForLogin: boolean;
    };

const MAX_QUERY_CHARS = 8 * 1024;
const MAX_CLIENT_ID_CHARS = 512;
/** RFC 7636 section 4.2: the base64url of a SHA-256 hash. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** @param origin the issuer, under which the request is served. */
export function readAuthorizeRequest({ url }: Request, origin: string): AuthorizeReading {
  const { search, searchParams } = new URL(url);
  if (search.length > MAX_QUERY_CHARS) {
    return unreadable("The request is longer than 8 KB.", 414);
  }
  // RFC 6749 section 3.1: MUST NOT be included more than once. Of a resource there may be several.
  const names = [...searchParams.keys()].filter((name) => name !== "resource");
  if (new Set(names).size !== names.length) {
    return unreadable("The request has a parameter twice, so it is not clear what it asks for.");
  }
  // The same section: without a value, it MUST be treated as if it were not there.
  const query = new URLSearchParams([...searchParams].filter(([, value]) => value !== ""));
  const clientId = query.get("client_id") ?? "";
  if (clientId === "") return unreadable("The request does not say which application it is of.");
  // Invisible characters forge log lines.
  if (clientId.length > MAX_CLIENT_ID_CHARS || !/^[\x21-\x7e]+$/.test(clientId)) {
    return unreadable("The request has a client_id that no application has.");
  }
  const redirectUri = query.get("redirect_uri") ?? "";
  const kind = redirectKind(redirectUri);
  if (kind === "unused") {
    return unreadable("Answers go to addresses with https, or to this computer, and to no others.");
  }
  if (kind === "refused") {
    return unreadable("The request does not say where the answer is to go, or says it wrongly.");
  }
  const prompts = (query.get("prompt") ?? "").split(" ");
  return {
    kind: "read",
    request: asTheLibraryReadsIt(query, origin),
    clientId,
    redirectUri,
    state: query.get("state") ?? "",
    objection: objectionTo(query, prompts),
    asksForConsent: prompts.includes("consent"),
    asksForLogin: prompts.includes("login") || prompts.includes("select_account"),
  };
}

function asTheLibraryReadsIt(query: URLSearchParams, origin: string): Request {
  const url = new URL("/authorize", origin);
  for (const [name, value] of query) {
    url.searchParams.append(name, name === "resource" ? canonicalResource(origin, value) : value);
  }
  return new Request(url);
}

function objectionTo(query: URLSearchParams, prompts: readonly string[]): Objection | undefined {
  // RFC 9101 section 6.3 has these two codes, OpenID Connect section 3.1.2.6 the one for `prompt`.
  if (query.has("request")) {
    return unsupported("request_not_supported", "Request objects are not supported");
  }
  if (query.has("request_uri")) {
    return unsupported("request_uri_not_supported", "Request objects are not supported");
  }
  if ((query.get("response_mode") ?? "query") !== "query") {
    return unsupported("invalid_request", "The only response_mode is query");
  }
  if (prompts.includes("none")) {
    return unsupported("interaction_required", "Nobody is signed in without seeing a page");
  }
  // OAuth 2.1 section 4.1.1: for every client. The library exempts those with a secret.
  const isS256 = query.get("code_challenge_method") === "S256";
  if (!isS256 || !CHALLENGE.test(query.get("code_challenge") ?? "")) {
    const description = "PKCE is required: a code_challenge with the method S256";
    return { code: "invalid_request", description, reason: "no-pkce" };
  }
  if (query.getAll("resource").length > 1) {
    const description = "A token is for one resource: ask for one";
    return { code: "invalid_target", description, reason: "unknown-resource" };
  }
  return undefined;
}

function unsupported(code: string, description: string): Objection {
  return { code, description, reason: "unsupported" };
}

function unreadable(sentence: string, status: 400 | 414 = 400): AuthorizeReading {
  return { kind: "unreadable", status, sentence };
}
