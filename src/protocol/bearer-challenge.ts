/** The `WWW-Authenticate` challenges of a server (RFC 9110 section 11.6.1), as far as they concern Bearer tokens. */

/** Of a `Bearer` challenge (RFC 6750 section 3, RFC 9728 section 5.1). Hostile text: never shown. */
export interface BearerChallenge {
  readonly resourceMetadata?: string;
  readonly scope?: string;
  readonly error?: string;
}
