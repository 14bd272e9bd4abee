// Short forms for what nearly every tool returns.

import type { CallToolResult, InputResponseView } from "@modelcontextprotocol/server";

export function text(value: string): CallToolResult {
  return { content: [{ type: "text", text: value }] };
}

export function failure(message: string): CallToolResult {
  return { ...text(message), isError: true };
}

/** The text of a sampling answer; undefined when there is none yet. */
export function sampledText(answer: InputResponseView): string | undefined {
  if (answer.kind !== "sampling") return undefined;
  const blocks = [answer.result.content].flat();
  return blocks.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("");
}
