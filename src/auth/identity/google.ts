/** Google: OpenID Connect with its own way to refresh tokens and its own claim for companies. */

import { type OidcTraits, STANDARD } from "./oidc-traits.ts";

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
  tellsAuthTime: false,
  // Anyone can open a consumer account with a company's address; only the company's own accounts
  // have `hd`.
  domain: "hd",
};
