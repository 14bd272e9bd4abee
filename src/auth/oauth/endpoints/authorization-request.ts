/**
 * Reads an authorization request (RFC 6749 section 4.1.1), without asking who sent it. The checks run
 * from top to bottom, and the first one that finds something ends the request. Only the person gets the
 * error until the redirect URI is known to be the client's; then the application gets it
 * (section 4.1.2.1). Some checks are for what the library lets pass: repeated parameters, parameters of
 * profiles that are not served, missing PKCE of clients with a secret, and the spellings of a resource
 * that real clients send.
 */

import { redirectKind } from "../../clients/redirect-uris.ts";
import { canonicalResource } from "../../resources.ts";
import { type Check, firstFinding } from "./check.ts";

/** The errors that only the person gets. */
const READABLE: readonly Check<Query, Unreadable>[] = [
  limitLength,
  rejectRepeatedParameters, // RFC 6749 section 3.1: MUST NOT be included more than once
  checkClientId, // RFC 6749 section 4.1.1: REQUIRED
  checkRedirectUri, // RFC 6749 section 3.1.2
];

/** The errors that the application gets, if the library itself finds none. */
const SERVED: readonly Check<Query, Objection>[] = [
  rejectRequestObject, // RFC 9101 section 6.3
  rejectRequestUri, // RFC 9101 section 6.3
  rejectResponseMode, // OAuth 2.0 Multiple Response Type Encoding Practices, section 2.1
  rejectPromptNone, // OpenID Connect Core section 3.1.2.6
  requirePkce, // OAuth 2.1 section 4.1.1: for every client; the library exempts those with a secret
  requireOneResource, // RFC 8707 section 2
];

interface Query {
  /** With its question mark. */
  readonly search: string;
  readonly sent: URLSearchParams;
  /**
   * Those with a value: a parameter without one MUST be treated as if it were not there (RFC 6749
   * section 3.1).
   */
  readonly params: URLSearchParams;
  readonly prompts: readonly string[];
}

export interface Unreadable {
  readonly kind: "unreadable";
  readonly status: 400 | 414;
  readonly sentence: string;
}

/** An OAuth error for the application. */
export interface Objection {
  /** An error code of RFC 6749 section 4.1.2.1 or of its extensions. */
  readonly code: string;
  readonly description: string;
  /** For the login doctor. */
  readonly reason: "malformed" | "unsupported" | "no-pkce" | "unknown-resource" | "unknown-scope";
}

export interface ReadRequest {
  readonly kind: "read";
  /** The request for the library. */
  readonly request: Request;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly objection: Objection | undefined;
  /** The client demands a consent page, whatever the user answered before. */
  readonly asksForConsent: boolean;
  /** The client demands a new sign-in. */
  readonly asksForLogin: boolean;
}

export type AuthorizeReading = Unreadable | ReadRequest;

/**
 * @param origin the issuer, under which the request is served.
 * @param isPublishingOn as `canonicalResource` takes it.
 */
export function readAuthorizeRequest(
  { url }: Request,
  origin: string,
  isPublishingOn = false,
): AuthorizeReading {
  const { search, searchParams: sent } = new URL(url);
  const params = new URLSearchParams([...sent].filter(([, value]) => value !== ""));
  const prompts = (params.get("prompt") ?? "").split(" ");
  const query = { search, sent, params, prompts };
  return (
    firstFinding(READABLE, query) ?? {
      kind: "read",
      request: asTheLibraryReadsIt(params, origin, isPublishingOn),
      clientId: params.get("client_id") ?? "",
      redirectUri: params.get("redirect_uri") ?? "",
      state: params.get("state") ?? "",
      objection: firstFinding(SERVED, query),
      asksForConsent: prompts.includes("consent"),
      asksForLogin: prompts.includes("login") || prompts.includes("select_account"),
    }
  );
}

function asTheLibraryReadsIt(
  params: URLSearchParams,
  origin: string,
  isPublishingOn: boolean,
): Request {
  const url = new URL("/authorize", origin);
  for (const [name, value] of params) {
    const isResource = name === "resource";
    url.searchParams.append(
      name,
      isResource ? canonicalResource(origin, value, isPublishingOn) : value,
    );
  }
  return new Request(url);
}

const MAX_QUERY_CHARS = 8 * 1024;

function limitLength({ search }: Query): Unreadable | undefined {
  if (search.length <= MAX_QUERY_CHARS) return undefined;
  return unreadable("The request is longer than 8 KB.", 414);
}

/** There may be several resources at this point, so that the application gets the error. */
function rejectRepeatedParameters({ sent }: Query): Unreadable | undefined {
  const names = [...sent.keys()].filter((name) => name !== "resource");
  if (new Set(names).size === names.length) return undefined;
  return unreadable("The request has a parameter twice, so it is not clear what it asks for.");
}

const MAX_CLIENT_ID_CHARS = 512;

function checkClientId({ params }: Query): Unreadable | undefined {
  const clientId = params.get("client_id") ?? "";
  if (clientId === "") return unreadable("The request does not say which application it is of.");
  // Invisible characters forge log lines.
  if (clientId.length <= MAX_CLIENT_ID_CHARS && /^[\x21-\x7e]+$/.test(clientId)) return undefined;
  return unreadable("The request has a client_id that no application has.");
}

function checkRedirectUri({ params }: Query): Unreadable | undefined {
  switch (redirectKind(params.get("redirect_uri") ?? "")) {
    case "unused":
      return unreadable(
        "Answers go to addresses with https, or to this computer, and to no others.",
      );
    case "refused":
      return unreadable("The request does not say where the answer is to go, or says it wrongly.");
    default:
      return undefined;
  }
}

function unreadable(sentence: string, status: 400 | 414 = 400): Unreadable {
  return { kind: "unreadable", status, sentence };
}

function rejectRequestObject({ params }: Query): Objection | undefined {
  if (!params.has("request")) return undefined;
  return unsupported("request_not_supported", "Request objects are not supported");
}

function rejectRequestUri({ params }: Query): Objection | undefined {
  if (!params.has("request_uri")) return undefined;
  return unsupported("request_uri_not_supported", "Request objects are not supported");
}

function rejectResponseMode({ params }: Query): Objection | undefined {
  if ((params.get("response_mode") ?? "query") === "query") return undefined;
  return unsupported("invalid_request", "The only response_mode is query");
}

function rejectPromptNone({ prompts }: Query): Objection | undefined {
  if (!prompts.includes("none")) return undefined;
  return unsupported("interaction_required", "Nobody is signed in without seeing a page");
}

/** RFC 7636 section 4.2: the base64url of a SHA-256 hash. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

function requirePkce({ params }: Query): Objection | undefined {
  const isS256 = params.get("code_challenge_method") === "S256";
  if (isS256 && CHALLENGE.test(params.get("code_challenge") ?? "")) return undefined;
  const description = "PKCE is required: a code_challenge with the method S256";
  return { code: "invalid_request", description, reason: "no-pkce" };
}

function requireOneResource({ params }: Query): Objection | undefined {
  if (params.getAll("resource").length < 2) return undefined;
  const description = "A token is for one resource: ask for one";
  return { code: "invalid_target", description, reason: "unknown-resource" };
}

function unsupported(code: string, description: string): Objection {
  return { code, description, reason: "unsupported" };
}
