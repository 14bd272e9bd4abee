/** `server/discover`: one server answers itself; several are introduced as one. */

import { toModern } from "../../protocol/capabilities.ts";
import { Meta } from "../../protocol/envelope.ts";
import { type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import { MODERN_REVISIONS } from "../../protocol/revisions.ts";
import { introduceEndpoint, type Introduction } from "../introduction/introduction.ts";
import { relayTo } from "./call-server.ts";
import type { RequestContext } from "../../relay/modern-context.ts";

const METHOD = "server/discover";
/** The operator may change the set of servers, and no client is notified. */
const MAX_TTL_MS = 3_600_000;

export async function discoverEndpoint(requestContext: RequestContext): Promise<Reply> {
  const { context, client, inbound } = requestContext;
  const { servers, isMerged } = context.endpoint;
  if (!isMerged) return relayTo(requestContext, servers[0], inbound.message);
  const result = discovery(await introduceEndpoint(context, client));
  return { result: completeModernResult(METHOD, result) ?? result };
}

function discovery({ capabilities, serverInfo, instructions, freshMs }: Introduction): JsonObject {
  return {
    supportedVersions: MODERN_REVISIONS,
    capabilities: toModern(capabilities),
    ...(instructions === undefined ? {} : { instructions }),
    ttlMs: Math.max(0, Math.min(Math.floor(freshMs), MAX_TTL_MS)),
    cacheScope: "private",
    _meta: { [Meta.serverInfo]: serverInfo },
  };
}
