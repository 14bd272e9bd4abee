/**
 * What can be wrong with an account, or keep one from being connected: a code for each, which logs and
 * the audit have, and of which pages have a sentence (`src/pages/trouble-words.ts`). None quotes a server.
 */

export type Trouble =
  // What the server says about signing in (RFC 9728).
  /** It does not answer, or fails. */
  | "server-unreachable"
  /** It has no protected resource metadata, so nothing says where its accounts are. */
  | "no-metadata"
  /** Its metadata cannot be read, or names no authorization server. */
  | "bad-metadata"
  /** Its metadata is that of another resource. */
  | "other-resource"

  // The authorization server (RFC 8414).
  | "issuer-unreachable"
  /** It has no metadata, or none that can be read. */
  | "bad-issuer-metadata"
  /** Its metadata is that of another issuer. */
  | "other-issuer"
  /** The server names another authorization server than the operator's `issuer`. */
  | "not-pinned"
  /** An endpoint that no browser or secret may be sent to. */
  | "unsafe-endpoint"
  /** It offers no authorization code grant, or demands what is not supported here. */
  | "unsupported"
  | "no-pkce"

  // The gateway as a client there.
  /** It registers no clients by itself, and the operator has entered none. */
  | "not-registered"
  | "registration-refused"
  /** The registration had no answer that can be used. */
  | "registration-failed"
  /** The authorization server does not know the gateway any more. */
  | "client-gone"
  /** It refuses the client that the operator has entered. */
  | "client-refused"

  // An attempt to connect.
  /** The link was for another person, or is too old. */
  | "unknown-link"
  | "too-many"
  | "declined"
  /** The answer came from another authorization server (RFC 9207). */
  | "iss-mismatch"
  /** The authorization server ended the attempt with an error. */
  | "authorization-failed"
  /** The code was not accepted. */
  | "code-refused"
  /** The exchange of the code had no answer; it is not repeated. */
  | "exchange-unanswered"
  /** The answer has no token that can be used. */
  | "bad-token"
  | "scope-refused"
  | "resource-refused"
  /** The authorization server does not accept what the gateway sends. */
  | "request-refused"

  // An API key.
  | "malformed-key"
  | "key-refused"
  /** The server did not answer when the key was tried. */
  | "key-untried"

  // An account that was connected.
  /** No account is connected. */
  | "not-connected"
  /** The server refuses the credential, a new one too. */
  | "refused"
  /** The authorization server has ended the account's access. */
  | "ended"
  /** A refresh had no answer, and the refresh token does not work any more. */
  | "refresh-lost"
  /** The authorization server is failing, and is tried again later. */
  | "failing"
  /** The server has moved to another authorization server. */
  | "moved"
  /** The stored account cannot be opened: its key was removed. */
  | "sealed"
  /** The server demands more than the account has allowed. */
  | "more-scopes"
  /** The account does not allow it, and a new login would not help. */
  | "forbidden"
  /** The server demands more than the operator lets the gateway ask for (`maxScopes`). */
  | "beyond-max-scopes";
