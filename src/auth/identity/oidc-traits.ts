/** Where OpenID providers differ. Everything that the standard settles is in `oidc-client.ts`. */

import type { AuthorizationServer } from "oauth4webapi";

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Rules } from "./claims.ts";

/** An OpenID provider as an operator configured it. */
export interface OidcConfig extends Rules {
  readonly name: string;
  readonly label: string;
  /** Exactly as the provider spells them. More than one where it has one per tenant. */
  readonly issuers: readonly [string, ...string[]];
  readonly clientId: string;
  readonly clientSecret?: string;
  /** How the secret is sent; without it, as the provider's metadata prefers. */
  readonly clientAuth?: "client_secret_basic" | "client_secret_post";
  /** Beside "openid profile email". */
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  /** Origins that the provider itself redirects to on the way to its sign-in. */
  readonly formActions: readonly string[];
}

export interface OidcTraits {
  /** Of every authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** In place of them when the person shall prove anew who they are. */
  readonly freshParameters: Readonly<Record<string, string>>;
  /** Whether refresh tokens come with the scope `offline_access`, if the metadata has it. */
  readonly usesOfflineAccess: boolean;
  /** Whether prompts include `consent` then (OpenID Connect Core 11: required for that scope). */
  readonly asksForConsent: boolean;
  readonly hasUserinfo: boolean;
  /** Whether `auth_time` comes when the metadata says that it does. */
  readonly tellsAuthTime: boolean;
  /** The claim that says whether the address in `email` is the person's own. */
  readonly emailVerified: string;
  /** The claim with the person's domain; without it, it is the domain of the address. */
  readonly domain?: string;
  /** The metadata to sign people in with who may be of any of the issuers. */
  readonly sharedServer?: (metadata: AuthorizationServer) => AuthorizationServer;
  /** @returns what is not a text when the claims do not say who somebody is. */
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
