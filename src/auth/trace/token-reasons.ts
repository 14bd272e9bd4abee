/**
 * Why a request for a token was refused, more exactly than the error's code says: found out by the
 * gateway itself, from the client's record and from the state of the grant. What the library says in
 * its descriptions decides nothing.
 */

const TOKEN_REASONS = [
  ...(["unknown-client", "wrong-secret", "other-client", "used-code", "expired"] as const),
  ...(["ended", "replaced", "verifier", "redirect"] as const),
  ...(["provider-ended", "user-gone", "too-old"] as const),
] as const;

export type TokenReason = (typeof TOKEN_REASONS)[number];

/** From the object that holds the grant to the Worker; no client sees it. */
const HEADER = "Edgeway-Token-Reason";

export function withReason(response: Response, reason: TokenReason | undefined): Response {
  if (reason === undefined) return response;
  const headers = new Headers(response.headers);
  headers.set(HEADER, reason);
  return new Response(response.body, { status: response.status, headers });
}

/** @returns the response as a client may see it, and the reason that came with it. */
export function takeReason(response: Response): {
  readonly response: Response;
  readonly reason: TokenReason | undefined;
} {
  const name = response.headers.get(HEADER);
  if (name === null) return { response, reason: undefined };
  const headers = new Headers(response.headers);
  headers.delete(HEADER);
  return {
    response: new Response(response.body, { status: response.status, headers }),
    reason: TOKEN_REASONS.find((each) => each === name),
  };
}
