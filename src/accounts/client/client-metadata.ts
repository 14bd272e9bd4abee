/**
 * What the gateway says about itself to authorization servers: its client metadata documents
 * (draft-ietf-oauth-client-id-metadata-document) and its request for registration (RFC 7591).
 */

import { isLoopback } from "../../lib/loopback.ts";
import {
  callbackUrl,
  CLIENT_KEYS_PATH,
  CLIENT_METADATA_JWT_PATH,
  CLIENT_METADATA_PATH,
} from "../addresses.ts";

/** What every request for registration and every document has (2026-07-28, client registration). */
function common(origin: string) {
  return {
    client_name: `Edgeway (${new URL(origin).host})`,
    client_uri: origin,
    // SHOULD list `refresh_token` when refresh tokens are wanted.
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
}

/** @returns `undefined` on an origin that no authorization server can read: plain http, or loopback. */
export function clientMetadataUrl(
  origin: string,
  method: "none" | "private_key_jwt",
): string | undefined {
  const { protocol, hostname } = new URL(origin);
  if (protocol !== "https:" || isLoopback(hostname)) return undefined;
  return origin + (method === "none" ? CLIENT_METADATA_PATH : CLIENT_METADATA_JWT_PATH);
}

/** @param slugs the servers with accounts; each has a redirect URI of its own. */
export function clientMetadataDocument(
  origin: string,
  slugs: readonly string[],
  method: "none" | "private_key_jwt",
): Readonly<Record<string, unknown>> {
  const isSigning = method === "private_key_jwt";
  return {
    client_id: origin + (isSigning ? CLIENT_METADATA_JWT_PATH : CLIENT_METADATA_PATH),
    ...common(origin),
    redirect_uris: slugs.map((slug) => callbackUrl(origin, slug)),
    token_endpoint_auth_method: method,
    ...(isSigning && {
      token_endpoint_auth_signing_alg: "ES256",
      jwks_uri: origin + CLIENT_KEYS_PATH,
    }),
  };
}

export interface RegistrationFacts {
  readonly origin: string;
  readonly redirectUri: string;
  /** `token_endpoint_auth_methods_supported` of the authorization server. */
  readonly offered?: readonly string[];
  readonly scopes?: readonly string[];
}

/** The body of the registration request (RFC 7591 section 2). */
export function registrationBody(facts: RegistrationFacts): Readonly<Record<string, unknown>> {
  const { origin, redirectUri, offered, scopes = [] } = facts;
  return {
    ...common(origin),
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: preferredMethod(offered),
    // 2026-07-28: MUST be sent, as OpenID Connect servers hold `web` to https (SEP-837).
    application_type: isLoopback(new URL(origin).hostname) ? "native" : "web",
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
  };
}

const PREFERRED = ["none", "client_secret_basic", "client_secret_post"];

/** RFC 8414 section 2: Basic is the default of a server that lists none. */
function preferredMethod(offered: readonly string[] = ["client_secret_basic"]): string {
  return PREFERRED.find((method) => offered.includes(method)) ?? "none";
}
