/** What a test reads of it. */
export interface OAuthWorkerState {
  /** What was asked of it, like "register" or the grant type of a token request, in order. */
  readonly requests: readonly string[];
  /** The refresh tokens that stand, by the ids that the library gives them. */
  readonly refreshTokens: readonly string[];
  readonly accessTokens: number;
}
