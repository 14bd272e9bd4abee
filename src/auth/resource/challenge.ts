/**
 * Refusals of a request without the right token, with what a client needs to get one. Clients steer
 * by the `WWW-Authenticate` header alone (RFC 6750 section 3, RFC 9728 section 5.1, and the MCP
 * specification); the body is for people.
 */

export interface Challenge {
  /** The URL of the requested endpoint's resource metadata. */
  readonly metadata: string;
  /** All scopes that are needed, so that one more sign-in is enough. */
  readonly scopes: readonly string[];
}

const RETRY_SECONDS = 5;

/** No token was sent: nothing is wrong yet, so there is no error (RFC 6750 section 3.1). */
export function signInFirst(challenge: Challenge): Response {
  return refuse(401, challenge, undefined, "A bearer token is needed");
}

export function invalidToken(challenge: Challenge, sentence: string): Response {
  return refuse(401, challenge, "invalid_token", sentence);
}

/** The token lacks the scope that the endpoint requires. */
export function insufficientScope(challenge: Challenge): Response {
  const sentence = `This needs the scope ${challenge.scopes.join(" ")}`;
  return refuse(403, challenge, "insufficient_scope", sentence);
}

/** The token cannot be checked at the moment: not 401, or clients would discard it. */
export function cannotJudge(): Response {
  const headers = { "Retry-After": String(RETRY_SECONDS) };
  return plainError(503, "temporarily_unavailable", "Try again in a moment", headers);
}

/** The endpoint may be that of a server which an operator has added: not 404, or clients would give up. */
export function resourcesUnknown(): Response {
  const headers = { "Retry-After": String(RETRY_SECONDS) };
  const sentence = "It is not known right now which servers were added; try again later";
  return plainError(503, "temporarily_unavailable", sentence, headers);
}

export function noSuchResource(): Response {
  return plainError(404, "not_found", "There is no such endpoint");
}

export function noSuchDocument(): Response {
  return plainError(404, "not_found", "There is no such document");
}

function plainError(
  status: 401 | 403 | 404 | 503,
  error: string,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = { error, error_description: description };
  return Response.json(body, { status, headers: { "Cache-Control": "no-store", ...headers } });
}

/** @param sentence our own text: no value that a client sent is repeated in a header. */
function refuse(
  status: 401 | 403,
  { metadata, scopes }: Challenge,
  error: string | undefined,
  sentence: string,
): Response {
  const parameters = {
    ...(error !== undefined && { error, error_description: sentence }),
    resource_metadata: metadata,
    scope: scopes.join(" "),
  };
  const quoted = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  const header = `Bearer ${quoted.join(", ")}`;
  return plainError(status, error ?? "unauthorized", sentence, { "WWW-Authenticate": header });
}
