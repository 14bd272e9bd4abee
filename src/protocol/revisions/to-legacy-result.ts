/**
 * A result on its way to a legacy client, from a server of either era: what belongs to the wire of
 * 2026-07-28 is taken off, and what the client's revision does not know is put into words that it
 * does. Display fields that are merely newer stay: legacy objects are open, and each filter is a
 * chance to lose something.
 */

import { isObject, type JsonObject } from "../json-rpc.ts";
import { contentFor } from "./content.ts";
import { isObjectSchema, wrapValue } from "./output.ts";
import { mapMember } from "./map-member.ts";
import { withoutEnvelope } from "./reserved-meta.ts";
import { type LegacyReader, toLegacyTool } from "./tool.ts";

/**
 * @param outputSchema of the tool that was called, as its modern server gave it, where it is known:
 *   a value that happens to be an object is wrapped all the same where the client was shown a
 *   wrapped schema.
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
      // Strict clients take nothing but an empty object.
      return {};
    default:
      return rest;
  }
}

/** What only the newer wire has; `resultType` says nothing that the client could not see. */
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
