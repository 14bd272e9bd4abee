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
  const body = { error: "temporarily_unavailable", error_description: "Try again in a moment" };
  return Response.json(body, {
    status: 503,
    headers: { "Cache-Control": "no-store", "Retry-After": String(RETRY_SECONDS) },
  });
}

export function noSuchResource(): Response {
  const body = { error: "not_found", error_description: "There is no such endpoint" };
  return Response.json(body, { status: 404, headers: { "Cache-Control": "no-store" } });
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
  return Response.json(
    { error: error ?? "unauthorized", error_description: sentence },
    {
      status,
      headers: { "WWW-Authenticate": `Bearer ${quoted.join(", ")}`, "Cache-Control": "no-store" },
    },
  );
}
