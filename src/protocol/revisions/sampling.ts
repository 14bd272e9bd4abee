/** Translates the messages and tools of a sampling request to legacy revisions. */

import { isObject, type JsonObject } from "../json-rpc.ts";
import type { Params } from "../wire.ts";
import type { LegacyRevision } from "../revisions.ts";
import { mapMember } from "./map-member.ts";
import { wrapValue } from "./output.ts";
import { toLegacyTool } from "./tool.ts";

/**
 * Translates messages for clients before 2025-11-25, where a message has one part: a message of several
 * parts becomes several messages of the same role.
 *
 * @returns `undefined` for messages that these clients cannot receive.
 */
export function plainMessages(
  messages: unknown,
  revision: LegacyRevision,
): readonly JsonObject[] | undefined {
  if (!Array.isArray(messages)) return undefined;
  const plain: JsonObject[] = [];
  for (const message of messages as unknown[]) {
    if (!isObject(message)) return undefined;
    const { content } = message;
    const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
    if (!parts.every((part) => isPlain(part, revision))) return undefined;
    for (const part of parts) plain.push({ ...message, content: part });
  }
  return plain;
}

function isPlain(part: unknown, revision: LegacyRevision): boolean {
  const type = isObject(part) ? part["type"] : undefined;
  return type === "text" || type === "image" || (type === "audio" && revision >= "2025-03-26");
}

/** For 2025-11-25, where tool output is an object, also in messages about earlier calls. */
export function withObjectOutputs(params: Params): Params {
  const reader = { revision: "2025-11-25", era: "modern", hasTasks: true } as const;
  const plain = mapMember(params, "tools", (tool) => toLegacyTool(tool, reader));
  return mapMember(plain, "messages", ({ content, ...message }) => ({
    ...message,
    content: Array.isArray(content) ? content.map(withObjectOutput) : withObjectOutput(content),
  }));
}

function withObjectOutput(part: unknown): unknown {
  if (!isObject(part) || part["type"] !== "tool_result") return part;
  const { structuredContent } = part;
  const isPlain = structuredContent === undefined || isObject(structuredContent);
  return isPlain ? part : { ...part, structuredContent: wrapValue(structuredContent) };
}
