/** The protocol by which events come to a client, in every order that there is. */

import { describe, test } from "vitest";

import { type Explored, explore } from "./delivery/explore.ts";
import type { Broken } from "./delivery/model.ts";

const BUDGET = { restarts: 2, clientCuts: 2, serverCuts: 0 };

describe("the delivery of a call's events", () => {
  test("loses, doubles and stalls nothing, whatever breaks in which order", ({ expect }) => {
    const { states, trace } = explore(BUDGET);
    expect(trace).toBeUndefined();
    // Written in docs/design/delivery.md.
    expect(states).toBe(96_282);
  });

  const BREAKS: readonly (readonly [keyof Broken, RegExp])[] = [
    ["lateEndsReachSuccessors", /nothing goes on/],
    ["sendsAtOnce", /the client got/],
    ["oldReadersWin", /nothing goes on/],
    ["forgetsPlace", /the log has/],
    ["trustsSent", /the client got/],
    ["revivesNothing", /nothing goes on/],
  ];
  test.for(BREAKS)("fails without one of its rules: %s", ([rule, finding], { expect }) => {
    const { trace }: Explored = explore(BUDGET, { [rule]: true });
    expect(trace?.at(-1)).toMatch(finding);
  });
});
