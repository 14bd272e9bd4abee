/**
 * What is known of single authorization servers and their vendors do not publish as metadata: settings
 * that the operator would otherwise have to find out. What the operator has set comes first.
 */

import type { OAuthSettings, RegistrationWay } from "./settings.ts";

/** The settings of a server once its authorization server is known. */
export interface ResolvedSettings extends OAuthSettings {
  readonly registration: readonly RegistrationWay[];
  readonly authorizeParams: Readonly<Record<string, string>>;
  readonly scopeOnRefresh: boolean;
  readonly rotation: "auto" | "none";
  readonly pkce: "required" | "assume";
  /** False where `offline_access` is refused although the metadata lists it. */
  readonly takesOfflineAccess: boolean;
}

type VendorDefaults = Partial<
  Pick<
    ResolvedSettings,
    | "registration"
    | "authorizeParams"
    | "resource"
    | "scopeOnRefresh"
    | "rotation"
    | "pkce"
    | "takesOfflineAccess"
  >
>;

const ENTRA: VendorDefaults = {
  // `resource` beside a scope is refused (AADSTS901002, AADSTS9010010).
  resource: false,
  // Without its scope, a refresh is refused (AADSTS90009) or yields a token for another resource.
  scopeOnRefresh: true,
  // S256 is supported, and its metadata does not say so.
  pkce: "assume",
};

/** By the host of the issuer. As documented by the vendors or their users; none of it is probed here. */
const BY_HOST: Readonly<Record<string, VendorDefaults>> = {
  "accounts.google.com": {
    // Without a new consent, a person who has allowed the client before gets no refresh token again.
    authorizeParams: { access_type: "offline", prompt: "consent" },
    rotation: "none",
    takesOfflineAccess: false,
  },
  "login.microsoftonline.com": ENTRA,
  "login.microsoftonline.us": ENTRA,
  // It advertises client metadata documents, and its MCP server refuses the tokens of such clients.
  "mcp.linear.app": { registration: ["preregistered", "dcr"] },
};

const USUAL = {
  registration: ["preregistered", "cimd", "dcr"],
  scopeOnRefresh: false,
  rotation: "auto",
  pkce: "required",
  takesOfflineAccess: true,
} as const satisfies VendorDefaults;

/** @param issuer of the authorization server; any text that is no URL has the usual defaults. */
export function resolveSettings(settings: OAuthSettings, issuer: string): ResolvedSettings {
  const host = URL.canParse(issuer) ? new URL(issuer).hostname : "";
  const vendor = Object.hasOwn(BY_HOST, host) ? BY_HOST[host] : undefined;
  return {
    ...USUAL,
    ...vendor,
    ...settings,
    authorizeParams: { ...vendor?.authorizeParams, ...settings.authorizeParams },
  };
}
