/** Translates the introduction of a server of one era to the other. */

import { Meta, serverInfoOf } from "../envelope.ts";
import { isObject, type JsonObject } from "../json-rpc.ts";
import { type LegacyRevision, MODERN_REVISIONS } from "../revisions.ts";
import {
  legacyServerToModernClient,
  modernServerToLegacyClient,
} from "./translate-capabilities.ts";

/** The parts of an introduction that both eras have. */
export interface Introduced {
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject;
  readonly instructions?: string;
}

/**
 * A modern server's discovery, for the answer to `initialize`.
 *
 * @param name of a server that does not name itself: here it MUST (2025-11-25, lifecycle).
 */
export function introducedTo(
  revision: LegacyRevision,
  discovery: JsonObject,
  name: string,
): Introduced {
  const { capabilities, instructions } = discovery;
  const serverInfo = serverInfoOf(discovery);
  return {
    capabilities: modernServerToLegacyClient(isObject(capabilities) ? capabilities : {}, revision),
    serverInfo: { name, version: "", ...(isObject(serverInfo) ? serverInfo : {}) },
    ...(typeof instructions === "string" ? { instructions } : {}),
  };
}

/**
 * A legacy server's handshake, as the answer to `server/discover`. The revisions are the gateway's
 * own to state, and so is how long the answer is good: a handshake says nothing of it.
 *
 * @param isWatched changes of the server come to be known here.
 */
export function discoveryOf(
  { capabilities, serverInfo, instructions }: Introduced,
  isWatched: boolean,
  ttlMs: number,
): JsonObject {
  return {
    resultType: "complete",
    supportedVersions: MODERN_REVISIONS,
    capabilities: legacyServerToModernClient(capabilities, isWatched),
    ...(instructions === undefined ? {} : { instructions }),
    ttlMs,
    cacheScope: "private",
    _meta: { [Meta.serverInfo]: serverInfo },
  };
}
