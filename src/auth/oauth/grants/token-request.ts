/** A token request: its client, and the one code or token that it is about. */

export interface TokenSubject {
  readonly user: string;
  readonly grant: string;
}

/** A code, a refresh token and an access token look alike: user, grant and 32 characters. */
const TOKEN = /^([A-Za-z0-9_-]{1,64}):([A-Za-z0-9_-]{16}):[A-Za-z0-9_-]{32}$/;

/** @returns `undefined` for a token of another shape, which is looked up nowhere. */
export function subjectOf(token: string): TokenSubject | undefined {
  const [, user, grant] = TOKEN.exec(token) ?? [];
  return user === undefined || grant === undefined ? undefined : { user, grant };
}

/**
 * The one field that a request is about. A request may contain others too, and code that read those
 * would take it for a request about another grant.
 */
const CREDENTIAL_FIELDS: ReadonlyMap<string, string> = new Map([
  ["authorization_code", "code"],
  ["refresh_token", "refresh_token"],
  ["", "token"],
]);

/** A value in the shape of no token, so that the library looks nothing up for it. */
const NOTHING = "malformed";

export class TokenRequest {
  readonly params: URLSearchParams;
  /** The `Authorization` header, when the client used HTTP authentication. */
  readonly authorization: string | null;
  readonly clientId: string;
  /** Empty when the request has none, as one to revoke a token has (RFC 7009). */
  readonly grantType: string;
  /** The name of the field with the code or token; `undefined` for other grant types. */
  readonly credentialField: string | undefined;
  /** The code or token that the request is about. */
  readonly credential: string;
  /** The user and the grant of the credential, if it has the shape of our tokens. */
  readonly subject: TokenSubject | undefined;

  constructor(params: URLSearchParams, authorization: string | null) {
    this.params = params;
    this.authorization = authorization;
    this.clientId = params.get("client_id") || (basicCredentials(authorization)?.user ?? "");
    this.grantType = params.get("grant_type") ?? "";
    this.credentialField = CREDENTIAL_FIELDS.get(this.grantType);
    this.credential = params.get(this.credentialField ?? "") ?? "";
    this.subject = subjectOf(this.credential);
  }

  /** The request is to revoke a token (RFC 7009). */
  get isRevocation(): boolean {
    return this.grantType === "" && this.credential !== "";
  }

  /** @returns the request in the form that the library reads. */
  toHttp(origin: string): Request {
    const { credentialField: field, credential, subject } = this;
    const body = new URLSearchParams(this.params);
    if (field !== undefined && credential !== "" && subject === undefined) body.set(field, NOTHING);
    return new Request(`${origin}/token`, {
      method: "POST",
      headers: this.authorization === null ? {} : { Authorization: this.authorization },
      body,
    });
  }
}

export interface BasicCredentials {
  readonly user: string;
  readonly secret: string;
}

/**
 * RFC 6749 section 2.3.1: the client's id and its secret are form-encoded before they become the
 * user name and the password.
 *
 * @returns `undefined` when the header is of another scheme, or broken.
 */
export function basicCredentials(authorization: string | null): BasicCredentials | undefined {
  const [, encoded] = /^Basic[ \t]+([A-Za-z0-9+/=]+)[ \t]*$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) return undefined;
  try {
    const decoded = atob(encoded);
    const colon = decoded.indexOf(":");
    if (colon === -1) return undefined;
    return { user: fromForm(decoded.slice(0, colon)), secret: fromForm(decoded.slice(colon + 1)) };
  } catch {
    return undefined;
  }
}

function fromForm(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}
