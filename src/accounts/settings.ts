/** How the gateway is known to one server: the operator's `auth` of `MCP_SERVERS`, resolved. */

export type ServerAuth =
  /** Nothing but the operator's `headers`, if there are any. */
  | { readonly kind: "none" | "headers" }
  /** Each person connects their own account, or an operator connects one for all. */
  | { readonly kind: "oauth" | "oauth-shared"; readonly oauth: OAuthSettings }
  /** Each person enters their own API key. */
  | { readonly kind: "key"; readonly key: KeySettings }
  /** The gateway has an account of its own (RFC 6749 section 4.4). */
  | { readonly kind: "client-credentials"; readonly oauth: OAuthSettings };

/** How an application proves to an authorization server which one it is (RFC 7591 section 2). */
export type ClientAuthMethod =
  | "none"
  | "client_secret_basic"
  /** Basic without the encoding of RFC 6749 section 2.3.1, for servers that do not decode it. */
  | "client_secret_basic_raw"
  | "client_secret_post"
  | "private_key_jwt";

export type RegistrationWay = "preregistered" | "cimd" | "dcr";

export interface OAuthSettings {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientAuth?: ClientAuthMethod;
  /** PKCS #8 in PEM, for `private_key_jwt`. */
  readonly privateKey?: string;
  /** The authorization server that is expected; without it, what the server's metadata names. */
  readonly issuer?: string;
  /** All of them together replace the authorization server's metadata. */
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  readonly revocationEndpoint?: string;
  /** In the order in which they are tried; without it, `vendor-defaults.ts` has the order. */
  readonly registration?: readonly RegistrationWay[];
  /** The gateway's client metadata document, where it is not served by the gateway itself. */
  readonly clientMetadataUrl?: string;
  /** Asked for instead of those that the server names. */
  readonly scopes?: readonly string[];
  /** The most that may be asked for when the server demands more. */
  readonly maxScopes?: readonly string[];
  /** Sent as `resource` (RFC 8707) instead of what the server's metadata says; `false` sends none. */
  readonly resource?: string | false;
  /** Further parameters of the authorization request. */
  readonly authorizeParams?: Readonly<Record<string, string>>;
  readonly scopeOnRefresh?: boolean;
  /** `none`: the authorization server never replaces a refresh token. */
  readonly rotation?: "auto" | "none";
  /** `assume`: metadata without `code_challenge_methods_supported` is accepted. */
  readonly pkce?: "required" | "assume";
  /** Servers of 2025-03-26, which have no protected resource metadata. */
  readonly legacy: boolean;
  /** `shared`: everybody sees the list that the operator's account has. */
  readonly catalog: "user" | "shared";
  /** What people read instead of the slug. */
  readonly label?: string;
  /** A sentence for the person who connects. */
  readonly help?: string;
}

export interface KeySettings {
  /** The header that carries the key. */
  readonly header: string;
  /** Written before the key, such as `Bearer `. */
  readonly prefix: string;
  readonly label?: string;
  readonly help?: string;
}

/** @returns the operator's name for a server, as people read it. */
export function labelOf({
  slug,
  label,
  auth,
}: {
  readonly slug: string;
  readonly label?: string;
  readonly auth: ServerAuth;
}): string {
  const words = "key" in auth ? auth.key : "oauth" in auth ? auth.oauth : undefined;
  return words?.label ?? label ?? slug;
}

/** True when the server knows each person by an account of their own. */
export function isPersonal({ kind }: ServerAuth): boolean {
  return kind === "oauth" || kind === "key";
}

/** True when a vault has to be asked how the gateway is known to the server. */
export function needsVault({ kind }: ServerAuth): boolean {
  return kind !== "none" && kind !== "headers";
}

export const IDENTITY_CLAIMS = ["email", "name", "groups"] as const;

/** A server that is told who calls (`src/accounts/assertion`). */
export interface IdentitySettings {
  readonly audience: string;
  /** What it may know of a person beyond their id. */
  readonly claims: readonly (typeof IDENTITY_CLAIMS)[number][];
  /** The header that carries the assertion. */
  readonly header: string;
}

/** True when a browser is sent to an authorization server, which sends it back. */
export function isSignInWay({ kind }: ServerAuth): boolean {
  return kind === "oauth" || kind === "oauth-shared";
}
