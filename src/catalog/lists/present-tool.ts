/** A tool as its server lists it, in the words of the client's revision. */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import { type Era, isLegacyRevision } from "../../protocol/revisions.ts";
import { toLegacyTool, toModernTool } from "../../protocol/revisions/tool.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";

/** @param era the server's. */
export function presentTool(tool: JsonObject, era: Era, { revision }: ClientKind): JsonObject {
  // Where several servers meet, no tasks of 2025-11-25 are advertised.
  if (isLegacyRevision(revision)) return toLegacyTool(tool, { revision, era, hasTasks: false });
  return era === "modern" ? tool : toModernTool(tool);
}
