/**
 * The reasons for which a token request was refused, more exact than the error code: the gateway
 * finds them itself, from the client's record and from the state of the grant. The library's
 * descriptions decide nothing.
 */

const TOKEN_REASONS = [
  ...(["unknown-client", "wrong-secret", "other-client", "used-code", "expired"] as const),
  ...(["ended", "replaced", "verifier", "redirect"] as const),
  ...(["provider-ended", "user-gone", "too-old"] as const),
] as const;

export type TokenReason = (typeof TOKEN_REASONS)[number];

/** Sent from the object that holds the grant to the Worker; no client receives it. */
const HEADER = "Edgeway-Token-Reason";

export function withReason(response: Response, reason: TokenReason | undefined): Response {
  if (reason === undefined) return response;
  const headers = new Headers(response.headers);
  headers.set(HEADER, reason);
  return new Response(response.body, { status: response.status, headers });
}

/** @returns the response without the header, and the reason that it contained. */
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
