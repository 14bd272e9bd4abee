/** Ways to read what a call came to. */

import type { Json } from "../support/clients-face.ts";

/** The text of a tool's result. */
export function textOf(result: Json): string {
  const blocks = result["content"] as { type: string; text?: string }[];
  return blocks.map(({ type, text }) => text ?? `[${type}]`).join("\n");
}

/** The result of a call, or what there is to know of its error. */
export async function outcomeOf(call: Promise<Json>): Promise<Json> {
  try {
    return await call;
  } catch (error) {
    const { message, code, data } = error as Error & { code?: unknown; data?: unknown };
    return { message, code, data };
  }
}
