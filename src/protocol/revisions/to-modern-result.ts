/**
 * Translates a legacy server's result for a modern client. Members of 2026-07-28 in such a result have
 * no meaning: the result is complete, may not be cached, and asks no questions.
 */

import { isImplementation, Meta, metaOf, withMeta } from "../envelope.ts";
import type { JsonObject } from "../json-rpc.ts";
import { isCacheable } from "../methods.ts";
import { mapMember } from "./map-member.ts";
import { withoutEnvelopeAndTasks } from "./reserved-meta.ts";
import { toModernTool } from "./tool.ts";

/** @param serverInfo of the handshake: every result names its server (2026-07-28, basic: SHOULD). */
export function toModernResult(
  method: string,
  result: JsonObject,
  serverInfo?: JsonObject,
): JsonObject {
  const { inputRequests: _, requestState: __, ...rest } = withoutEnvelopeAndTasks(result);
  const translated = method === "tools/list" ? mapMember(rest, "tools", toModernTool) : rest;
  // A `serverInfo` without a name and a version would make the whole result invalid.
  const meta = isImplementation(serverInfo)
    ? { ...metaOf(translated), [Meta.serverInfo]: serverInfo }
    : metaOf(translated);
  const { ttlMs: ___, cacheScope: ____, ...complete } = withMeta(translated, meta);
  return {
    ...complete,
    resultType: "complete",
    ...(isCacheable(method) ? { ttlMs: 0, cacheScope: "private" } : {}),
  };
}
