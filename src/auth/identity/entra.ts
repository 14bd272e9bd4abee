/** Microsoft Entra ID: one issuer for each tenant, and addresses that prove nothing. */

import type { AuthorizationServer } from "oauth4webapi";

import { type OidcTraits, STANDARD } from "./oidc-traits.ts";

export const TENANT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HOST = "https://login.microsoftonline.com";

/** @param tenant the id of a directory, in small letters. */
export function entraIssuer(tenant: string): string {
  return `${HOST}/${tenant}/v2.0`;
}

export const ENTRA: OidcTraits = {
  ...STANDARD,
  freshParameters: { prompt: "login" },
  // Entra asks for consent by itself; asked for, it wants an administrator's for everybody.
  asksForConsent: false,
  // It would be Microsoft Graph, which knows people by another id.
  hasUserinfo: false,
  tellsAuthTime: false,
  // `email` can be set to anybody's address; this optional claim says that its domain was verified.
  emailVerified: "xms_edov",
  sharedServer,
  // `sub` differs from one application to the next; these two together name an account.
  subjectOf({ iss, tid, oid }) {
    const isOwn = typeof tid === "string" && iss === entraIssuer(tid);
    return isOwn && typeof oid === "string" && oid !== "" ? `${tid}.${oid}` : undefined;
  },
};

/** People of several tenants enter by one address; the token says afterwards which one was theirs. */
function sharedServer(metadata: AuthorizationServer): AuthorizationServer {
  const [, tenant = ""] = /\/([^/]+)\/v2\.0$/.exec(metadata.issuer) ?? [];
  const share = (endpoint = ""): string => endpoint.replace(`/${tenant}/`, "/organizations/");
  return {
    ...metadata,
    authorization_endpoint: share(metadata.authorization_endpoint),
    token_endpoint: share(metadata.token_endpoint),
  };
}
