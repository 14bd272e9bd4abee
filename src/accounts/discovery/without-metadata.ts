/** Authorization servers that are known without metadata: by the operator, or by the rules of 2025-03-26. */

import type { OAuthSettings } from "../settings.ts";
import { loadMetadata, type MetadataAccess } from "./load-metadata.ts";
import {
  checkServerMetadata,
  type FirstGrant,
  type MetadataDemands,
  type MetadataOutcome,
  type ServerMetadata,
} from "./server-metadata.ts";

/** @returns `undefined` where only the server's metadata says it. */
export function configuredIssuer({ issuer, tokenEndpoint }: OAuthSettings): string | undefined {
  return issuer ?? (tokenEndpoint === undefined ? undefined : new URL(tokenEndpoint).origin);
}

/** @returns `undefined` unless the operator has entered every endpoint that the grant needs. */
export function staticServer(
  settings: OAuthSettings,
  grant: FirstGrant,
): ServerMetadata | undefined {
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint } = settings;
  const isComplete = grant === "client_credentials" || authorizationEndpoint !== undefined;
  const issuer = configuredIssuer(settings);
  if (tokenEndpoint === undefined || issuer === undefined || !isComplete) return undefined;
  return {
    issuer,
    ...(authorizationEndpoint !== undefined && { authorization_endpoint: authorizationEndpoint }),
    token_endpoint: tokenEndpoint,
    ...(revocationEndpoint !== undefined && { revocation_endpoint: revocationEndpoint }),
  };
}

/**
 * Before protected resource metadata, a server and its authorization server had one origin (2025-03-26,
 * authorization, 2.3): its metadata is at the root, and without it the endpoints have fixed names.
 */
export async function legacyServer(
  { origin }: URL,
  { access, demands }: { access: MetadataAccess; demands: MetadataDemands },
): Promise<MetadataOutcome> {
  const address = new URL(`${origin}/.well-known/oauth-authorization-server`);
  const loaded = await loadMetadata(address, access);
  switch (loaded.kind) {
    case "document":
      return loaded.document["issuer"] === origin || loaded.document["issuer"] === `${origin}/`
        ? checkServerMetadata(loaded.document, loaded.document["issuer"], demands)
        : { kind: "failed", trouble: "other-issuer" };
    case "unreachable":
      return { kind: "failed", trouble: "issuer-unreachable" };
    case "invalid":
      return { kind: "failed", trouble: "bad-issuer-metadata" };
    case "absent":
      return { kind: "found", metadata: guessed(origin) };
  }
}

/** 2025-03-26, authorization, 2.3.3. PKCE was REQUIRED, so that S256 is assumed. */
function guessed(origin: string): ServerMetadata {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
}
