/**
 * Why a request for a token was refused, more exactly than the error's word says. The library's
 * descriptions are the only place that tells; one that is not here is not kept.
 */

export type TokenReason =
  | "unknown-client"
  | "wrong-secret"
  | "other-client"
  | "used-code"
  | "expired"
  | "ended"
  | "replaced"
  | "verifier"
  | "redirect"
  | "provider-ended"
  | "user-gone";

const REASONS: ReadonlyMap<string, TokenReason> = new Map([
  ["Client not found", "unknown-client"],
  ["Client ID mismatch", "other-client"],
  ["Authorization code already used", "used-code"],
  ["Grant not found or authorization code expired", "expired"],
  ["Refresh token has expired", "expired"],
  ["Grant not found", "ended"],
  ["Invalid refresh token", "replaced"],
  ["Invalid PKCE code_verifier", "verifier"],
  ["Invalid redirect URI", "redirect"],
  ["redirect_uri does not match the authorization request", "redirect"],
  ["The sign-in provider has ended the session", "provider-ended"],
  ["The user's provider is gone", "provider-ended"],
  ["The user may not sign in any more", "user-gone"],
]);

/** @param description the `error_description` of the answer. */
export function tokenReason(description: unknown): TokenReason | undefined {
  if (typeof description !== "string") return undefined;
  // The library says after it how the secret was sent.
  if (description.startsWith("Client authentication failed")) return "wrong-secret";
  return REASONS.get(description);
}
