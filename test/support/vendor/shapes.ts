/**
 * Vendors whose ways differ from the specification's, as their users report them. Each is a script that a test
 * may change further.
 */

import type { VendorClient, VendorScript } from "./script.ts";

/** Registered by hand, as such vendors want it. */
export const REGISTERED: VendorClient = {
  clientId: "edgeway-app",
  clientSecret: "registered-by-hand",
};

/**
 * No registration; tokens that never end and cannot be refreshed; errors with status 200; forms unless JSON
 * is asked for; the issuer has a path.
 */
export const GITHUB_LIKE: VendorScript = {
  registers: false,
  clients: [{ ...REGISTERED, method: "client_secret_post" }],
  issuerPath: "/login/oauth",
  namesItself: false,
  expiresIn: null,
  refreshTokens: "never",
  answersForms: true,
  errorsAreOk: true,
  checksAudience: false,
};

/**
 * No registration; `resource` beside a scope is refused; a refresh names its scope; metadata is OpenID's alone
 * and does not speak of PKCE.
 */
export const ENTRA_LIKE: VendorScript = {
  registers: false,
  clients: [REGISTERED],
  issuerPath: "/tenant/v2.0",
  metadataAt: ["openid-appended"],
  namesItself: false,
  resource: "refused",
  checksAudience: false,
  wantsScopeOnRefresh: true,
  rotation: "rotate",
  graceUses: 1,
  reactions: {
    metadata: [{ patch: { code_challenge_methods_supported: null }, isLasting: true }],
  },
};

/**
 * No registration; a refresh token only for `access_type=offline`, and for a person who has allowed the client
 * before only with `prompt=consent`, never replaced and never repeated; metadata of the resource names the issuer
 * with a slash more; `initialize` needs no token.
 */
export const GOOGLE_LIKE: VendorScript = {
  registers: false,
  clients: [REGISTERED],
  metadataAt: ["openid-appended"],
  namesItself: false,
  refreshTokens: "offline",
  rotation: "none",
  checksAudience: false,
  open: ["initialize", "notifications/initialized", "server/discover", "tools/list"],
  reactions: {
    "resource-metadata": [{ patch: { authorization_servers: ["{{issuer}}/"] }, isLasting: true }],
  },
};
