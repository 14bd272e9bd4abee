/** The tool of every simulated server: it streams so many events, and then returns the name of the call. */

import type { Random } from "../platform/random.ts";
import type { Json } from "./actor.ts";

/** The arguments of a call. */
export interface Work {
  readonly call: string;
  readonly events: number;
  /** The characters by which each event is longer. */
  readonly text?: number;
}

/** The text of one of its events, which names the call. */
export function eventText({ call, text = 0 }: Work, count: number): string {
  return `${call}/${count}${text === 0 ? "" : ` ${"x".repeat(text)}`}`;
}

export const TOOL = {
  name: "work",
  inputSchema: {
    type: "object",
    properties: { call: { type: "string" }, events: { type: "integer" } },
  },
};

/** @returns the answer of a server to a call of a tool that it does not have; `undefined` where it has it. */
export function refusalOf({ id, params }: Json): Json | undefined {
  const { name } = params as { readonly name: string };
  if (name === TOOL.name) return undefined;
  return { jsonrpc: "2.0", id, error: { code: -32602, message: `Unknown tool: ${name}` } };
}

/** @returns after how many of so many events a call asks; -1 for one that does not. */
export function placeOfQuestion(asks: boolean | "first", events: number, random: Random): number {
  if (asks === "first") return 0;
  return asks && random.chance(0.5) ? random.below(events + 1) : -1;
}
