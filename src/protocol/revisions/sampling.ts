/** The messages and tools of a sampling request, in the words of legacy revisions. */

import { isObject, type JsonObject, type Params } from "../json-rpc.ts";
import type { LegacyRevision } from "../revisions.ts";
import { mapMember } from "./map-member.ts";
import { wrapValue } from "./output.ts";
import { toLegacyTool } from "./tool.ts";

/**
 * For clients before 2025-11-25, where a message has one part: one of several becomes several, one
 * after the other, of the same role.
 *
 * @returns `undefined` for what these clients cannot be sent at all.
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

/** For 2025-11-25, where the output of tools is an object, also of those that were used before. */
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
