/** Google: OpenID Connect with its own way to refresh tokens and its own claim for companies. */

import { type OidcTraits, STANDARD } from "./oidc-traits.ts";

export const GOOGLE_ISSUER = "https://accounts.google.com";

/**
 * Google gives a refresh token for `access_type`, not for a scope, and after the first time only
 * when consent is asked for: without it, the second application of a person could not be rechecked.
 * It neither signs people in anew on request nor says when it did.
 */
const PARAMETERS = { access_type: "offline", prompt: "select_account consent" };

export const GOOGLE: OidcTraits = {
  ...STANDARD,
  parameters: PARAMETERS,
  freshParameters: PARAMETERS,
  usesOfflineAccess: false,
  tellsAuthTime: false,
  // Anyone can open a consumer account with an address of a company; `hd` is for its own accounts.
  domain: "hd",
};
