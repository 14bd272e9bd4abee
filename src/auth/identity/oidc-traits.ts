/**
 * The differences between OpenID providers: the standard, Google, and Microsoft Entra ID. Everything
 * that the standard settles is in `oidc-client.ts`.
 */

import type { AuthorizationServer } from "oauth4webapi";

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Rules } from "./allow-list.ts";

/** An OpenID provider as an operator configured it. */
export interface OidcConfig extends Rules {
  readonly name: string;
  readonly label: string;
  /**
   * The issuers, exactly as the provider spells them: several for a provider with one per tenant.
   */
  readonly issuers: readonly [string, ...string[]];
  readonly clientId: string;
  readonly clientSecret?: string;
  /**
   * The authentication method for the secret; the default is the one that the provider's metadata
   * prefers.
   */
  readonly clientAuth?: "client_secret_basic" | "client_secret_post";
  /** Scopes in addition to "openid profile email". */
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  /** Origins that the provider itself redirects to on the way to its sign-in. */
  readonly formActions: readonly string[];
}

export interface OidcTraits {
  /** The parameters of every authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The parameters that replace them when the person has to sign in anew. */
  readonly freshParameters: Readonly<Record<string, string>>;
  /** Refresh tokens come with the scope `offline_access`, if the metadata lists it. */
  readonly usesOfflineAccess: boolean;
  /** `prompt` then includes `consent` (OpenID Connect Core 11: required for that scope). */
  readonly asksForConsent: boolean;
  readonly hasUserinfo: boolean;
  /** The provider sends `auth_time` when its metadata lists the claim. */
  readonly sendsAuthTime: boolean;
  /** The claim that confirms the address in `email` as the person's own. */
  readonly emailVerified: string;
  /** The claim with the person's domain; without it, the domain is that of the address. */
  readonly domain?: string;
  /** @returns the metadata for a sign-in by a person of any of the issuers. */
  readonly sharedServer?: (metadata: AuthorizationServer) => AuthorizationServer;
  /** @returns the subject; a value other than a string when the claims do not identify a person. */
  readonly subjectOf: (claims: JsonObject) => unknown;
}

export const STANDARD: OidcTraits = {
  parameters: {},
  freshParameters: { prompt: "login", max_age: "0" },
  usesOfflineAccess: true,
  asksForConsent: true,
  hasUserinfo: true,
  sendsAuthTime: true,
  emailVerified: "email_verified",
  subjectOf: (claims) => claims["sub"],
};

export const GOOGLE_ISSUER = "https://accounts.google.com";

/**
 * Google issues a refresh token for `access_type`, not for a scope, and after the first time only
 * with a request for consent: without it, the second application of a person could not be
 * rechecked. It neither repeats a sign-in on request nor reports the time of the last one.
 */
const PARAMETERS = { access_type: "offline", prompt: "select_account consent" };

export const GOOGLE: OidcTraits = {
  ...STANDARD,
  parameters: PARAMETERS,
  freshParameters: PARAMETERS,
  usesOfflineAccess: false,
  sendsAuthTime: false,
  // Anyone can open a consumer account with a company's address; only the company's own accounts
  // have `hd`.
  domain: "hd",
};

export const TENANT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HOST = "https://login.microsoftonline.com";

/** @param tenant the id of a directory, in lower case. */
export function entraIssuer(tenant: string): string {
  return `${HOST}/${tenant}/v2.0`;
}

/** One issuer for each tenant, and addresses that are not verified. */
export const ENTRA: OidcTraits = {
  ...STANDARD,
  freshParameters: { prompt: "login" },
  // Entra asks for consent by itself; an explicit request needs an administrator's consent for all
  // users.
  asksForConsent: false,
  // The userinfo endpoint is Microsoft Graph, which identifies people by another id.
  hasUserinfo: false,
  sendsAuthTime: false,
  // `email` can be set to any address; this optional claim confirms that its domain was verified.
  emailVerified: "xms_edov",
  sharedServer,
  // `sub` differs between applications; `tid` and `oid` together identify an account.
  subjectOf({ iss, tid, oid }) {
    const isOwn = typeof tid === "string" && iss === entraIssuer(tid);
    return isOwn && typeof oid === "string" && oid !== "" ? `${tid}.${oid}` : undefined;
  },
};

/**
 * People of several tenants sign in at one endpoint; the token then shows which tenant is theirs.
 */
function sharedServer(metadata: AuthorizationServer): AuthorizationServer {
  const [, tenant = ""] = /\/([^/]+)\/v2\.0$/.exec(metadata.issuer) ?? [];
  const share = (endpoint = ""): string => endpoint.replace(`/${tenant}/`, "/organizations/");
  return {
    ...metadata,
    authorization_endpoint: share(metadata.authorization_endpoint),
    token_endpoint: share(metadata.token_endpoint),
  };
}
