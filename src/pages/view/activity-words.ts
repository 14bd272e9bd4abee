/** Calls in words: how they ended, how long they took, and how much went over the wire. */

import type { OutcomeKind } from "../../activity/call.ts";
import type { BadgeLook } from "./parts.ts";

export const OUTCOME_WORDS: Readonly<
  Record<OutcomeKind, readonly [label: string, look: BadgeLook]>
> = {
  ok: ["Answered", "good"],
  tool_error: ["The tool failed", "warn"],
  error: ["Error", "bad"],
  refused: ["Refused", "warn"],
  cancelled: ["Cancelled", ""],
};

/** The codes that people meet; the others are shown as they are. */
const ERRORS: Readonly<Record<string, string>> = {
  "-32600": "not a request",
  "-32601": "no such method",
  "-32602": "invalid, or no such item",
  "-32603": "the server or the gateway failed",
  "-32002": "no such resource",
  "-32042": "an account has to be connected first",
};
const REFUSALS: Readonly<Record<string, string>> = {
  concurrency: "too many at once",
  rate: "too many in a minute",
  paused: "the server is not answering",
  result_size: "the answer was too large",
};

/** @param outcome as the log has it. @returns why, if that is known: `too many at once`. */
export function outcomeDetail(outcome: string): string | undefined {
  const at = outcome.indexOf(":");
  if (at === -1) return undefined;
  const detail = outcome.slice(at + 1);
  const known = outcome.startsWith("error") ? ERRORS[detail] : REFUSALS[detail];
  if (outcome.startsWith("error")) return known === undefined ? detail : `${known} (${detail})`;
  return known ?? detail;
}

/** `240 ms`, `3.2 s`, `4 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trimmed(ms / 1000)} s`;
  return `${trimmed(ms / 60_000)} min`;
}

/** `120 B`, `3.4 kB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${trimmed(bytes / 1000)} kB`;
  return `${trimmed(bytes / 1_000_000)} MB`;
}

function trimmed(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0).replace(/\.0$/, "");
}

/** `12,345`. */
export function count(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

const EFFECTS: Readonly<Record<string, string>> = {
  read: "reads",
  write: "writes",
  destructive: "can destroy",
};

/** @returns what a tool does, as its server says; `undefined` where it says nothing. */
export function effectWords(effect: string): string | undefined {
  return EFFECTS[effect];
}
