/** A page of a merged list for a client of the legacy era, which knows nothing of caching. */

import type { JsonObject } from "../../protocol/json-rpc.ts";

/** @param result of `listPage`. Its notes on servers in `_meta` stay. */
export function asLegacyList(result: JsonObject): JsonObject {
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  return rest;
}
