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
 * Translates a modern server's discovery for the answer to `initialize`.
 *
 * @param name for a server that does not name itself: `initialize` needs one (2025-11-25, lifecycle: MUST).
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
 * Translates a legacy server's handshake to the answer to `server/discover`. The gateway states its own
 * revisions and time to live: a handshake has no time to live.
 *
 * @param isWatched true when the gateway learns of the server's changes.
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
