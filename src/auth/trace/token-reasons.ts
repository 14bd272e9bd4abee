/**
 * The reasons for which a token request was refused, more exact than the error code: the gateway
 * finds them itself, from the client's record and from the state of the grant. The library's
 * descriptions decide nothing.
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
  | "user-gone"
  | "too-old";
