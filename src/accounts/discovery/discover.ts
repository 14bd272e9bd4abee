/**
 * Discovery: from the address of a server to the authorization server that gives out tokens for it, and
 * to the `resource` that these are for.
 */

import type { BearerChallenge } from "../../protocol/bearer-challenge.ts";
import type { OAuthSettings } from "../settings.ts";
import { resolveSettings } from "../vendor-defaults.ts";
import { readAuthorizationServer } from "./authorization-server.ts";
import { legacyServer, staticServer } from "./without-metadata.ts";
import type { MetadataAccess } from "./load-metadata.ts";
import {
  type ProtectedResource,
  readProtectedResource,
  type ResourceTrouble,
} from "./protected-resource.ts";
import {
  type FirstGrant,
  isIssuer,
  type MetadataDemands,
  type MetadataTrouble,
  type ServerMetadata,
} from "./server-metadata.ts";

export interface DiscoveryRequest {
  readonly endpoint: URL;
  readonly settings: OAuthSettings;
  readonly grant: FirstGrant;
  /** What the server answered to a request without a token, or with one that it refused. */
  readonly challenge?: BearerChallenge;
  /** The issuer of the account that is connected now. */
  readonly connectedTo?: string;
  /** True when the gateway is, or can become, a client there. */
  readonly canRegister?: (metadata: ServerMetadata) => boolean;
}

/** Plain data, which can be kept for an hour (a failure, for a minute). */
export type Discovery =
  | {
      readonly kind: "found";
      readonly authorizationServer: ServerMetadata;
      /** To be sent as it is in each request (RFC 8707); `undefined`: none is sent. */
      readonly resource?: string;
      /** The server's `scopes_supported`. */
      readonly scopes?: readonly string[];
      /** Those that the server names; see `isNamed`. */
      readonly issuers: readonly string[];
    }
  | {
      readonly kind: "failed";
      readonly trouble: DiscoveryTrouble;
      /** The authorization server that failed, as the server lists it. Hostile text. */
      readonly issuer?: string;
      /** Absent when the server's own metadata was not read. */
      readonly issuers?: readonly string[];
    };

type DiscoveryTrouble = ResourceTrouble | MetadataTrouble | "not-pinned";

/** @returns what was found, or the first reason why nothing was. Stores nothing, and throws nothing. */
export async function discover(
  request: DiscoveryRequest,
  access: MetadataAccess,
): Promise<Discovery> {
  const { endpoint, settings, challenge, grant } = request;
  const fixed = staticServer(settings, grant);
  if (fixed !== undefined) return found(request, fixed, undefined);
  const read = await readProtectedResource(endpoint, challenge, access);
  if (read.kind === "found") return choose(request, read.metadata, access);
  if (read.trouble !== "no-metadata") return { kind: "failed", trouble: read.trouble };
  // The operator has said what the server does not say.
  if (settings.issuer !== undefined) {
    const pinned = { authorizationServers: [settings.issuer] };
    return choose(request, pinned, access);
  }
  if (!settings.legacy) return { kind: "failed", trouble: "no-metadata" };
  const legacy = await legacyServer(endpoint, contextFor(request, endpoint.origin, access));
  if (legacy.kind === "failed") return { ...legacy, issuer: endpoint.origin };
  return found(request, legacy.metadata, undefined);
}

/**
 * True while the server names the authorization server that an account is of. Otherwise the server has
 * moved: nothing of the old one may be sent to the new one (2026-07-28, client registration,
 * Authorization Server Binding).
 *
 * @param issuer as the authorization server's own metadata had it.
 */
export function isNamed(issuer: string, issuers: readonly string[]): boolean {
  return issuers.some((listed) => isIssuer(issuer, listed));
}

/** So many authorization servers of one server are tried. */
const MAX_SERVERS = 4;

/**
 * Chooses among several authorization servers, which RFC 9728 section 7.6 leaves to the client: the
 * operator's, that of the account if it is still there, or else the first one that can be used and
 * registers the gateway.
 */
async function choose(
  request: DiscoveryRequest,
  resource: ProtectedResource,
  access: MetadataAccess,
): Promise<Discovery> {
  const { settings, canRegister = () => true } = request;
  const candidates = candidatesFor(request, resource.authorizationServers);
  let unregistered: Discovery | undefined;
  let failure: Discovery | undefined;
  for (const listed of candidates) {
    const expected = settings.issuer ?? listed;
    const context = contextFor(request, expected, access);
    // oxlint-disable-next-line no-await-in-loop -- the next one is not asked if this one can be used
    const read = await readAuthorizationServer(listed, expected, context);
    if (read.kind === "found") {
      const discovery = found(request, read.metadata, resource);
      if (canRegister(read.metadata)) return discovery;
      unregistered ??= discovery;
    } else {
      const issuers = issuersOf(request, resource);
      failure ??= {
        kind: "failed",
        trouble: troubleOf(read, request, candidates),
        issuer: listed,
        issuers,
      };
    }
  }
  return unregistered ?? failure ?? { kind: "failed", trouble: "bad-metadata" };
}

/** An operator's issuer that is not listed may still be what the metadata of a listed one says. */
function candidatesFor(
  { settings, connectedTo }: DiscoveryRequest,
  listed: readonly string[],
): readonly string[] {
  const wanted = settings.issuer ?? connectedTo;
  const isWanted = (entry: string) => wanted !== undefined && isIssuer(wanted, entry);
  const first = listed.filter(isWanted);
  if (settings.issuer !== undefined && first.length > 0) return first.slice(0, 1);
  return [...first, ...listed.filter((entry) => !isWanted(entry))].slice(0, MAX_SERVERS);
}

function troubleOf(
  { trouble }: { readonly trouble: MetadataTrouble },
  { settings: { issuer } }: DiscoveryRequest,
  candidates: readonly string[],
): DiscoveryTrouble {
  const isOther = trouble === "other-issuer" || trouble === "bad-issuer-metadata";
  return isOther && issuer !== undefined && !isNamed(issuer, candidates) ? "not-pinned" : trouble;
}

function contextFor(
  { settings, grant }: DiscoveryRequest,
  issuer: string,
  access: MetadataAccess,
): { access: MetadataAccess; demands: MetadataDemands } {
  const { pkce } = resolveSettings(settings, issuer);
  return { access, demands: { grant, pkce, policy: access.policy } };
}

function found(
  request: DiscoveryRequest,
  authorizationServer: ServerMetadata,
  metadata: ProtectedResource | undefined,
): Discovery {
  const { endpoint, settings } = request;
  const { resource: configured } = resolveSettings(settings, authorizationServer.issuer);
  const resource = configured ?? metadata?.resource ?? endpoint.href;
  return {
    kind: "found",
    authorizationServer,
    ...(resource !== false && { resource }),
    ...(metadata?.scopes !== undefined && { scopes: metadata.scopes }),
    issuers: metadata === undefined ? [authorizationServer.issuer] : issuersOf(request, metadata),
  };
}

function issuersOf(
  { settings }: DiscoveryRequest,
  { authorizationServers }: ProtectedResource,
): readonly string[] {
  return settings.issuer === undefined ? authorizationServers : [settings.issuer];
}
