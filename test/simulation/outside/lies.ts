/** What no honest server sends: an answer to nobody, an event of nobody's call, the end of nobody's question. */

import type { Random } from "../platform/random.ts";
import type { Json } from "./actor.ts";

export interface LieHabits {
  /** Says such things in the middle of calls, and sends some answers twice. */
  readonly lies?: boolean;
}

const LIES: readonly Json[] = [
  { id: "nobody's", result: { content: [{ type: "text", text: "a lie" }] } },
  { id: "nobody's", error: { code: -32603, message: "a lie" } },
  {
    method: "notifications/progress",
    params: { progressToken: "nobody's", progress: 1, message: "a lie" },
  },
  { method: "notifications/cancelled", params: { requestId: "nobody's" } },
  { method: "notifications/elicitation/complete", params: { elicitationId: "nobody's" } },
];

/** @param say sends a message. */
export function lieNowAndThen(
  { lies }: LieHabits,
  random: Random,
  say: (message: Json) => void,
): void {
  if (lies === true && random.chance(0.3)) say({ jsonrpc: "2.0", ...random.pick(LIES) });
}

/** @returns how often the answer to a call is sent. */
export function answersOf({ lies }: LieHabits, random: Random): number {
  return lies === true && random.chance(0.3) ? 2 : 1;
}
