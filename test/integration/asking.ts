/** A legacy server that has questions, and a client that can answer all of them. */

import type { Json } from "../support/scripted-upstream-script.ts";
import { ANSWER, event, streamOf, Upstream } from "./upstream.ts";

export const CAPABILITIES = { elicitation: {}, sampling: {}, roots: { listChanged: true } };

/** A server that asks in mid-call, and goes on once the test lets it. */
export function asking(...asks: readonly Json[]): Promise<Upstream> {
  return Upstream.take({
    server: "legacy",
    reactions: {
      "tools/call": [streamOf(...asks.map((ask) => event(ask)), { gate: "go-on" }, event(ANSWER))],
    },
  });
}
