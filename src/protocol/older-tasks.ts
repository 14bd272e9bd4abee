/** The tasks of 2025-11-25; no other revision has them. */

import { isObject, type JsonObject } from "./json-rpc.ts";
import type { LegacyRevision } from "./revisions.ts";

export function hasOlderTasks(revision: LegacyRevision): boolean {
  return revision >= "2025-11-25";
}

/** True for the capabilities of a server that runs tools as tasks. */
export function takesTasks({ tasks }: JsonObject): boolean {
  const requests = isObject(tasks) ? tasks["requests"] : undefined;
  const tools = isObject(requests) ? requests["tools"] : undefined;
  return isObject(tools) && isObject(tools["call"]);
}
