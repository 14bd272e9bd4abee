/**
 * What a tool does to data, as its server claims it: annotations are hints and no guarantees (all
 * revisions from 2025-03-26 on, tools).
 */

import { isObject } from "./json-rpc.ts";

export type ToolEffect = "read" | "write" | "destructive";

/** A hint that is missing has the specification's default: a tool may write, and may destroy. */
export function effectOf(annotations: unknown): ToolEffect {
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  if (readOnlyHint === true) return "read";
  return destructiveHint === false ? "write" : "destructive";
}

/** True when the effect is the server's own word, and no default. */
export function statesEffect(annotations: unknown): boolean {
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  return readOnlyHint === true || typeof destructiveHint === "boolean";
}
