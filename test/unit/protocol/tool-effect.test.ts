/** What a tool does to data, by the hints of its server and the specification's defaults. */

import { describe, test } from "vitest";

import { effectOf, statesEffect } from "../../../src/protocol/tool-effect.ts";

const ROWS = [
  { annotations: undefined, effect: "destructive", isStated: false },
  { annotations: "read", effect: "destructive", isStated: false },
  { annotations: {}, effect: "destructive", isStated: false },
  { annotations: { readOnlyHint: false }, effect: "destructive", isStated: false },
  { annotations: { readOnlyHint: "yes" }, effect: "destructive", isStated: false },
  { annotations: { destructiveHint: true }, effect: "destructive", isStated: true },
  { annotations: { destructiveHint: false }, effect: "write", isStated: true },
  { annotations: { readOnlyHint: true }, effect: "read", isStated: true },
  // The hint on destruction means something only of a tool that is not read-only.
  { annotations: { readOnlyHint: true, destructiveHint: true }, effect: "read", isStated: true },
];

describe("effectOf()", () => {
  test.for(ROWS)("is $effect for $annotations", ({ annotations, effect, isStated }, { expect }) => {
    expect(effectOf(annotations)).toBe(effect);
    expect(statesEffect(annotations)).toBe(isStated);
  });
});
