/** Microsoft Entra ID: one issuer for each tenant, and addresses that are not verified. */

import type { AuthorizationServer } from "oauth4webapi";

import { type OidcTraits, STANDARD } from "./oidc-traits.ts";

export const TENANT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HOST = "https://login.microsoftonline.com";

/** @param tenant the id of a directory, in lower case. */
export function entraIssuer(tenant: string): string {
  return `${HOST}/${tenant}/v2.0`;
}

export const ENTRA: OidcTraits = {
  ...STANDARD,
  freshParameters: { prompt: "login" },
  // Entra asks for consent by itself; an explicit request needs an administrator's consent for all
  // users.
  asksForConsent: false,
  // The userinfo endpoint is Microsoft Graph, which identifies people by another id.
  hasUserinfo: false,
  tellsAuthTime: false,
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
