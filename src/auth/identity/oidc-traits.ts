/**
 * The differences between OpenID providers. Everything that the standard settles is in
 * `oidc-client.ts`.
 */

import type { AuthorizationServer } from "oauth4webapi";

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Rules } from "./claims.ts";

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
  /** Whether refresh tokens come with the scope `offline_access`, if the metadata lists it. */
  readonly usesOfflineAccess: boolean;
  /** Whether `prompt` then includes `consent` (OpenID Connect Core 11: required for that scope). */
  readonly asksForConsent: boolean;
  readonly hasUserinfo: boolean;
  /** Whether the provider sends `auth_time` when its metadata lists the claim. */
  readonly tellsAuthTime: boolean;
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
  tellsAuthTime: true,
  emailVerified: "email_verified",
  subjectOf: (claims) => claims["sub"],
};
