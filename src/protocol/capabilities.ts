/**
 * The advertised capabilities that cross the gateway. An advertised capability must work: an
 * extension is passed on only when every method it brings is routed.
 */

import { isObject, type JsonObject } from "./json-rpc.ts";
import type { LegacyRevision } from "./revisions.ts";
import { TASKS_EXTENSION } from "./tasks-extension.ts";

/** MCP Apps lives on tools and resources alone, so it needs no method of its own, in any era. */
const ROUTED: ReadonlySet<string> = new Set(["io.modelcontextprotocol/ui"]);
const ROUTED_IN_MODERN: ReadonlySet<string> = new Set([...ROUTED, TASKS_EXTENSION]);

function without(capabilities: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(capabilities).filter(([name]) => !names.includes(name)));
}

function withExtensions(capabilities: JsonObject, routed: ReadonlySet<string>): JsonObject {
  const { extensions, ...rest } = capabilities;
  if (!isObject(extensions)) return rest;
  // A value that is not an object declares nothing, and is removed for lenient readers.
  const kept = Object.entries(extensions).filter(
    ([name, settings]) => routed.has(name) && isObject(settings),
  );
  return kept.length === 0 ? rest : { ...rest, extensions: Object.fromEntries(kept) };
}

/** A legacy server's capabilities, as a legacy client of this revision may see them. */
export function toLegacyClient(capabilities: JsonObject, revision: LegacyRevision): JsonObject {
  const routed = withExtensions(capabilities, ROUTED);
  if (revision >= "2025-11-25") return routed;
  // Tasks are of 2025-11-25; `completions` came with 2025-03-26, though the method is older.
  return revision === "2024-11-05"
    ? without(routed, "tasks", "completions")
    : without(routed, "tasks");
}

/** A legacy client's capabilities, as they are declared to a legacy server. */
export function toLegacyServer(capabilities: JsonObject, revision: LegacyRevision): JsonObject {
  const routed = withExtensions(capabilities, ROUTED);
  return revision >= "2025-11-25" ? routed : without(routed, "tasks");
}

/** Either side's capabilities, from one modern hop to the next: tasks are an extension there. */
export function toModern(capabilities: JsonObject): JsonObject {
  return without(withExtensions(capabilities, ROUTED_IN_MODERN), "tasks");
}

/** Either side's, as far as they are the same in both eras; of tasks there is nothing. */
export function toOtherEra(capabilities: JsonObject): JsonObject {
  return without(withExtensions(capabilities, ROUTED), "tasks");
}

/** True for the revision with the older tasks; no other has them. */
export function hasOlderTasks(revision: LegacyRevision): boolean {
  return revision >= "2025-11-25";
}

/** True for the capabilities of a server that runs tools as tasks of 2025-11-25. */
export function takesTasks({ tasks }: JsonObject): boolean {
  const requests = isObject(tasks) ? tasks["requests"] : undefined;
  const tools = isObject(requests) ? requests["tools"] : undefined;
  return isObject(tools) && isObject(tools["call"]);
}

/** True for a server that takes `resources/subscribe`. */
export function canSubscribe({ resources }: JsonObject): boolean {
  const { subscribe } = isObject(resources) ? resources : {};
  return subscribe === true;
}
