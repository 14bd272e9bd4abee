/** The parts of a token request that must be known before the library reads it. */

export interface TokenForm {
  /** Empty when the request is to revoke a token (RFC 7009). */
  readonly grantType: string;
  readonly clientId: string;
  /** The code or token that the request is about. */
  readonly credential: string;
  /** The user and the grant of the credential, if it has the shape of our tokens. */
  readonly subject: TokenSubject | undefined;
}

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

/** @returns the name of the field with the code or token; `undefined` for other grant types. */
export function credentialField(grantType: string): string | undefined {
  return CREDENTIAL_FIELDS.get(grantType);
}

export function readTokenForm(form: URLSearchParams, headers: Headers): TokenForm {
  const grantType = form.get("grant_type") ?? "";
  const credential = form.get(credentialField(grantType) ?? "") ?? "";
  return {
    grantType,
    credential,
    clientId: form.get("client_id") || basicUser(headers.get("authorization")),
    subject: subjectOf(credential),
  };
}

/** RFC 6749 section 2.3.1: the client's id is form-encoded before it becomes a Basic user name. */
function basicUser(authorization: string | null): string {
  return basicCredentials(authorization)?.user ?? "";
}

export interface BasicCredentials {
  readonly user: string;
  readonly secret: string;
}

/** @returns `undefined` when the header is of another scheme, or broken. */
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
