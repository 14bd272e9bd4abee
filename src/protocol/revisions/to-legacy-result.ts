/**
 * Translates the result of a server of either era for a legacy client: removes the members of the
 * 2026-07-28 wire, and replaces what the client's revision does not know. Newer display fields stay:
 * legacy objects are open, and each filter may lose something.
 */

import { isObject, type JsonObject } from "../json-rpc.ts";
import { isObjectSchema, wrapValue } from "./output.ts";
import { mapMember } from "./map-member.ts";
import { withoutEnvelope } from "./reserved-meta.ts";
import { type LegacyReader, toLegacyTool } from "./tool.ts";
import type { LegacyRevision } from "../revisions.ts";

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

/**
 * Translates content that an older client does not know. A client that distinguishes content by its
 * `type` fails on an unknown one, so it gets a block that it can read, and nothing that it could use
 * is lost. A type that no revision knows stays unchanged.
 *
 * @param place of the block in its message: it makes the resource's URI unique there.
 * @returns the block as a client of this revision can read it.
 */
export function contentFor(revision: LegacyRevision, block: unknown, place = 0): unknown {
  if (!isObject(block)) return block;
  switch (block["type"]) {
    case "audio":
      return revision >= "2025-03-26" ? block : audioAsResource(block, place);
    case "resource_link":
      return revision >= "2025-06-18" ? block : linkAsText(block);
    default:
      return block;
  }
}

/** Every revision can embed a blob of any type; its URI cannot be read. */
function audioAsResource(audio: JsonObject, place: number): JsonObject {
  const { type: _, data: blob, mimeType, ...rest } = audio;
  const uri = `edgeway:audio/${place}`;
  const resource = mimeType === undefined ? { uri, blob } : { uri, mimeType, blob };
  return { ...rest, type: "resource", resource };
}

/** The text has the title, the description, and the URI, which the client can still read. */
function linkAsText({ uri, name, title, description, annotations, _meta }: JsonObject): JsonObject {
  const words = [title ?? name, description].filter(isFilled).join(": ");
  return {
    type: "text",
    text: [words, uri].filter(isFilled).join("\n"),
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
