/** A tool as its server lists it, translated to the client's revision. */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import { type Era, isLegacyRevision } from "../../protocol/revisions.ts";
import { toLegacyTool, toModernTool } from "../../protocol/revisions/tool.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";

/** @param era the server's. */
export function presentTool(tool: JsonObject, era: Era, { revision }: ClientKind): JsonObject {
  // Merged endpoints advertise no tasks of 2025-11-25.
  if (isLegacyRevision(revision)) return toLegacyTool(tool, { revision, era, hasTasks: false });
  return era === "modern" ? tool : toModernTool(tool);
}
