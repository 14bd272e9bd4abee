/**
 * Translates the result of a server of either era for a legacy client: removes the members of the
 * 2026-07-28 wire, and replaces what the client's revision does not know. Newer display fields stay:
 * legacy objects are open, and each filter may lose something.
 */

import { isObject, type JsonObject } from "../json-rpc.ts";
import { contentFor } from "./content.ts";
import { isObjectSchema, wrapValue } from "./output.ts";
import { mapMember } from "./map-member.ts";
import { withoutEnvelope } from "./reserved-meta.ts";
import { type LegacyReader, toLegacyTool } from "./tool.ts";

/**
 * @param outputSchema of the called tool, as its modern server gave it, if known: a value that happens
 *   to be an object is still wrapped when the client got a wrapped schema.
 */
export function toLegacyResult(
  method: string,
  result: JsonObject,
  reader: LegacyReader,
  outputSchema?: unknown,
): JsonObject {
  const rest = reader.era === "modern" ? withoutStamps(result) : result;
  switch (method) {
    case "tools/list":
      return mapMember(rest, "tools", (tool) => toLegacyTool(tool, reader));
    case "tools/call":
    case "tasks/result":
      return toLegacyToolResult(rest, reader, outputSchema);
    case "prompts/get":
      return mapMember(rest, "messages", (message) => toLegacyMessage(message, reader));
    case "resources/subscribe":
    case "resources/unsubscribe":
    case "logging/setLevel":
      // Strict clients accept only an empty object.
      return {};
    default:
      return rest;
  }
}

/** Removes the members that only the newer wire has; the client needs no `resultType`. */
function withoutStamps(result: JsonObject): JsonObject {
  const { resultType: _, ttlMs: __, cacheScope: ___, ...rest } = withoutEnvelope(result);
  return rest;
}

function toLegacyToolResult(
  result: JsonObject,
  { revision, era }: LegacyReader,
  outputSchema: unknown,
): JsonObject {
  const { content, structuredContent } = result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const translated = blocks.map((block, place) => contentFor(revision, block, place));
  const readable = content === blocks ? { ...result, content: translated } : result;
  if (structuredContent === undefined) return readable;

  const wasShownWrapped =
    era === "modern" && outputSchema !== undefined && !isObjectSchema(outputSchema);
  const isWrapped = !isObject(structuredContent) || wasShownWrapped;
  // A client that reads text alone must find the value there; servers SHOULD provide it (tools).
  const isHidden = isWrapped || revision < "2025-06-18";
  const hasText = blocks.some((block) => isObject(block) && block["type"] === "text");
  const text = { type: "text", text: JSON.stringify(structuredContent) };
  return {
    ...readable,
    ...(isHidden && !hasText ? { content: [...translated, text] } : {}),
    ...(isWrapped ? { structuredContent: wrapValue(structuredContent) } : {}),
  };
}

function toLegacyMessage(message: JsonObject, { revision }: LegacyReader): JsonObject {
  return "content" in message
    ? { ...message, content: contentFor(revision, message["content"]) }
    : message;
}
