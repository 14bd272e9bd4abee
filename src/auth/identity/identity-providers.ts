/**
 * Makes the providers from the operator's configuration, in its order, which is that of the
 * buttons.
 */

import { type AccessConfig, AccessProvider } from "./access.ts";
import { type GitHubConfig, GitHubProvider } from "./github.ts";
import { OidcProvider } from "./oidc.ts";
import { ENTRA, GOOGLE, type OidcConfig, STANDARD } from "./oidc-traits.ts";
import { type OwnerConfig, type OwnerDeps, OwnerProvider } from "./owner.ts";
import type { ProviderDocuments } from "./provider-documents.ts";
import type { ProviderFetch } from "./provider-fetch.ts";
import type { IdentityProvider } from "./provider.ts";

export type IdentityConfig =
  | ({ readonly provider: "owner" } & OwnerConfig)
  | ({ readonly provider: "oidc" | "google" | "entra" } & OidcConfig)
  | ({ readonly provider: "github" } & GitHubConfig)
  | ({ readonly provider: "access" } & AccessConfig);

export interface IdentityDeps extends OwnerDeps {
  /** A fetch that cannot reach private networks; loopback only in development. */
  readonly fetch: ProviderFetch;
  /** Kept for the life of the isolate; the providers themselves may be made for each request. */
  readonly documents: ProviderDocuments;
}

export function identityProviders(
  configs: readonly IdentityConfig[],
  deps: IdentityDeps,
): readonly IdentityProvider[] {
  return configs.map((config) => toProvider(config, deps));
}

function toProvider(config: IdentityConfig, deps: IdentityDeps): IdentityProvider {
  switch (config.provider) {
    case "owner":
      return new OwnerProvider(config, deps);
    case "oidc":
      return new OidcProvider(config, deps, STANDARD);
    case "google":
      return new OidcProvider(config, deps, GOOGLE);
    case "entra":
      return new OidcProvider(config, deps, ENTRA);
    case "github":
      return new GitHubProvider(config, deps);
    case "access":
      return new AccessProvider(config, deps);
  }
}
