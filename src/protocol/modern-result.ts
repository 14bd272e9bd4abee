/**
 * Adds the required members that lenient servers leave out of modern results: `resultType` on every
 * result, `ttlMs` and `cacheScope` on cacheable ones (2026-07-28, schema: MUST).
 */

import { isJsonNumber, nearest } from "../lib/lossless-json.ts";
import { isCacheable, isOfTasks, mayBecomeTask } from "./methods.ts";
import type { Result } from "./message-members.ts";

/**
 * @param takesTasks the request declared the extension for tasks.
 * @returns the result with its missing members, or `undefined` when its `resultType` is one that
 *   Edgeway did not offer to take: such a result is invalid.
 */
export function completeModernResult(
  method: string,
  result: Result,
  takesTasks = false,
): Result | undefined {
  const resultType = typeOf(method, result);
  if (!isOffered(method, resultType, takesTasks)) return undefined;
  if (resultType !== "complete" || !isCacheable(method)) return { ...result, resultType };
  return {
    ...result,
    resultType,
    ttlMs: isTtl(result.ttlMs) ? result.ttlMs : 0,
    cacheScope: result.cacheScope === "public" ? "public" : "private",
  };
}

function typeOf(method: string, result: Result): unknown {
  // An absent type means complete: servers older than the final text leave it out.
  const said = result.resultType ?? "complete";
  // Some of the extension's own examples have it so, against its MUST.
  return method === "tasks/get" && said === "task" ? "complete" : said;
}

function isOffered(method: string, resultType: unknown, takesTasks: boolean): boolean {
  switch (resultType) {
    case "complete":
      return true;
    case "input_required":
      // A task's questions are in the task.
      return !isOfTasks(method);
    case "task":
      return takesTasks && mayBecomeTask(method);
    default:
      return false;
  }
}

function isTtl(value: unknown): boolean {
  const ttlMs = isJsonNumber(value) ? nearest(value) : -1;
  return Number.isInteger(ttlMs) && ttlMs >= 0;
}
