/** A login that cannot be had: the authorization server is wrong, or has refused. */
export class LoginError extends Error {
  override readonly name = "LoginError";
  /** The error code of OAuth, if there was one. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}
