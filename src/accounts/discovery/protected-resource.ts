/**
 * Protected resource metadata (RFC 9728): where a server says which authorization servers give out tokens
 * for it. The gateway reads it as a 2026-07-28 client MUST (authorization, Protected Resource Metadata
 * Discovery Requirements).
 */

import { judgeEgress } from "../../lib/egress.ts";
import type { BearerChallenge } from "../../protocol/bearer-challenge.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import { scopesIn } from "../scopes.ts";
import type { Trouble } from "../trouble.ts";
import { loadMetadata, type MetadataAccess, stringsOf } from "./load-metadata.ts";
import { relateResource } from "./resource-identifier.ts";

export interface ProtectedResource {
  /** As it is written, which is how it is sent; `undefined` when the metadata is that of one part of the server. */
  readonly resource?: string;
  /** As they are written. */
  readonly authorizationServers: readonly string[];
  readonly scopes?: readonly string[];
}

export type ResourceOutcome =
  | { readonly kind: "found"; readonly metadata: ProtectedResource }
  | { readonly kind: "failed"; readonly trouble: ResourceTrouble };

export type ResourceTrouble = Extract<
  Trouble,
  "server-unreachable" | "no-metadata" | "bad-metadata" | "other-resource"
>;

/** Tries the addresses in their order, up to the first document. */
export async function readProtectedResource(
  endpoint: URL,
  challenge: BearerChallenge | undefined,
  access: MetadataAccess,
): Promise<ResourceOutcome> {
  const named = namedUrl(challenge, access);
  for (const url of named === undefined ? wellKnownUrls(endpoint) : [named]) {
    // oxlint-disable-next-line no-await-in-loop -- the next one must not be asked if there is this one
    const loaded = await loadMetadata(url, access);
    switch (loaded.kind) {
      case "absent":
        continue;
      case "unreachable":
        return failed("server-unreachable");
      case "invalid":
        return failed("bad-metadata");
      case "document":
        return parseProtectedResource(loaded.document, endpoint, named !== undefined);
    }
  }
  return failed("no-metadata");
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** The address of the challenge, if it can be used. Then no other one may be tried. */
function namedUrl(
  challenge: BearerChallenge | undefined,
  { policy }: MetadataAccess,
): URL | undefined {
  const named = challenge?.resourceMetadata ?? "";
  const url = URL.canParse(named) ? new URL(named) : undefined;
  return url !== undefined && judgeEgress(url, policy) === undefined ? url : undefined;
}

/**
 * With the server's path, and then without. Some servers answer only to the spelling of their path that
 * ends with a slash.
 */
function wellKnownUrls({ origin, pathname }: URL): readonly URL[] {
  const paths = pathname === "/" ? [] : [pathname.replace(/\/$/, ""), pathname];
  return [...new Set([...paths, ""])].map((path) => new URL(origin + WELL_KNOWN + path));
}

/** @param isNamed the server's challenge has led here: then it may be the metadata of one of its parts. */
function parseProtectedResource(
  document: JsonObject,
  endpoint: URL,
  isNamed: boolean,
): ResourceOutcome {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = document;
  // RFC 9728 section 2: REQUIRED, and section 3.3: without this check the document MUST NOT be used.
  const relation = typeof resource === "string" ? relateResource(resource, endpoint) : "other";
  const isOfServer = relation === "covers" || (isNamed && relation === "within");
  if (typeof resource !== "string" || !isOfServer) return failed("other-resource");
  const authorizationServers = stringsOf(servers);
  if (authorizationServers === undefined || authorizationServers.length === 0) {
    return failed("bad-metadata");
  }
  const offered = scopesIn(stringsOf(scopes) ?? []);
  return {
    kind: "found",
    metadata: {
      ...(relation === "covers" && { resource }),
      authorizationServers,
      ...(offered.length > 0 && { scopes: offered }),
    },
  };
}

function failed(trouble: ResourceTrouble): ResourceOutcome {
  return { kind: "failed", trouble };
}
