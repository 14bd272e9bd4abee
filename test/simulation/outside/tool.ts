/** The tool of every simulated server: it streams so many events, and then returns the name of the call. */

import type { Random } from "../platform/random.ts";

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

/** @returns after how many of so many events a call asks; -1 for one that does not. */
export function placeOfQuestion(asks: boolean | "first", events: number, random: Random): number {
  if (asks === "first") return 0;
  return asks && random.chance(0.5) ? random.below(events + 1) : -1;
}
