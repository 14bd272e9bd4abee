/**
 * Which advertised capabilities cross the gateway. What is advertised is owed: an extension is
 * passed on only when every method it brings is routed.
 */

import { isObject, type JsonObject } from "./json-rpc.ts";
import type { LegacyRevision } from "./revisions.ts";

/** MCP Apps lives on tools and resources alone, so it needs no method of its own. */
const ROUTED_EXTENSIONS: ReadonlySet<string> = new Set(["io.modelcontextprotocol/ui"]);

function without(capabilities: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(capabilities).filter(([name]) => !names.includes(name)));
}

function withRoutedExtensions(capabilities: JsonObject): JsonObject {
  const { extensions, ...rest } = capabilities;
  if (!isObject(extensions)) return rest;
  const routed = Object.entries(extensions).filter(([name]) => ROUTED_EXTENSIONS.has(name));
  return routed.length === 0 ? rest : { ...rest, extensions: Object.fromEntries(routed) };
}

/** A legacy server's capabilities, as a legacy client of this revision may see them. */
export function toLegacyClient(capabilities: JsonObject, revision: LegacyRevision): JsonObject {
  const routed = withRoutedExtensions(capabilities);
  if (revision >= "2025-11-25") return routed;
  // Tasks are of 2025-11-25; `completions` came with 2025-03-26, though the method is older.
  return revision === "2024-11-05"
    ? without(routed, "tasks", "completions")
    : without(routed, "tasks");
}

/** A legacy client's capabilities, as they are declared to a legacy server. */
export function toLegacyServer(capabilities: JsonObject, revision: LegacyRevision): JsonObject {
  const routed = withRoutedExtensions(capabilities);
  return revision >= "2025-11-25" ? routed : without(routed, "tasks");
}

/** Either side's capabilities on the modern wire, where tasks are an extension. */
export function toModern(capabilities: JsonObject): JsonObject {
  return without(withRoutedExtensions(capabilities), "tasks");
}
