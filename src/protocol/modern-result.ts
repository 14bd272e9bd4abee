/**
 * Completes what a modern result owes and lenient servers leave out: `resultType` on every
 * result, `ttlMs` and `cacheScope` on cacheable ones (2026-07-28, schema: MUST).
 */

import type { JsonObject } from "./json-rpc.ts";
import { isCacheable } from "./methods.ts";

const RESULT_TYPES: ReadonlySet<unknown> = new Set(["complete", "input_required"]);

/**
 * @returns the result with its missing members, or `undefined` when its `resultType` is one that
 *   Edgeway did not offer to take: such a result is invalid.
 */
export function completeModernResult(method: string, result: JsonObject): JsonObject | undefined {
  // An absent type means complete: servers older than the final text leave it out.
  const resultType = result["resultType"] ?? "complete";
  if (!RESULT_TYPES.has(resultType)) return undefined;
  if (resultType !== "complete" || !isCacheable(method)) return { ...result, resultType };
  return {
    ...result,
    resultType,
    ttlMs: isTtl(result["ttlMs"]) ? result["ttlMs"] : 0,
    cacheScope: result["cacheScope"] === "public" ? "public" : "private",
  };
}

function isTtl(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
