/** The passes of the benchmark, as one result: nobody's rounds are lost, and nobody gets another's. */

import { describe, test } from "vitest";

import { join, joinPasses } from "../../../bench/join.ts";
import { BILL, CALL, rate } from "./fixture.ts";

const [OURS, PEER] = CALL.measured;
const CEILING = { name: "load", samples: [rate(5000)] };

describe("join()", () => {
  test("has the rounds of both, each with its participant", ({ expect }) => {
    const joined = join({ ...CALL, ceiling: CEILING }, { ...CALL, ceiling: CEILING });
    expect(joined.measured.map(({ name, samples }) => [name, samples.length])).toEqual([
      ["Edgeway", 6],
      ["McpAgent", 6],
    ]);
    expect(joined.measured[0]?.samples).toEqual([
      ...(OURS?.samples ?? []),
      ...(OURS?.samples ?? []),
    ]);
    expect(joined.ceiling?.samples).toEqual([rate(5000), rate(5000)]);
  });

  test("refuses results of others", ({ expect }) => {
    const others = [PEER, OURS].filter((each) => each !== undefined);
    expect(() => join(CALL, { ...CALL, measured: others })).toThrow("measured once, and once not");
    expect(() => join(CALL, { ...CALL, measured: others.slice(0, 1) })).toThrow("once not");
  });
});

describe("joinPasses()", () => {
  test("makes one of each row and variant, and leaves what was measured once", ({ expect }) => {
    const other = { ...CALL, variant: "64 conn." };
    const joined = joinPasses([CALL, other, BILL, CALL, other]);
    expect(
      joined.map(({ row, variant, measured }) => [row, variant, measured[0]?.samples.length]),
    ).toEqual([
      ["call", "16 conn.", 6],
      ["call", "64 conn.", 6],
      ["bill", "call", 1],
    ]);
  });
});
