/** Tasks as 2025-11-25 has them, and no other revision. */

import { isObject, type JsonObject } from "./json-rpc.ts";
import type { LegacyRevision } from "./revisions.ts";

export function hasOlderTasks(revision: LegacyRevision): boolean {
  return revision >= "2025-11-25";
}

/** @param capabilities of a server: whether it runs tools as tasks. */
export function takesTasks({ tasks }: JsonObject): boolean {
  const requests = isObject(tasks) ? tasks["requests"] : undefined;
  const tools = isObject(requests) ? requests["tools"] : undefined;
  return isObject(tools) && isObject(tools["call"]);
}
