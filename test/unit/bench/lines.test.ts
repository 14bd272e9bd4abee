/** The lines of the benchmark: every number in its place, and none that was not taken. */

import { describe, test } from "vitest";

import { linesOf } from "../../../bench/lines.ts";
import { CPU_REQUESTS } from "../../../bench/row.ts";
import { BILL, CALL, rate } from "./fixture.ts";

describe("linesOf()", () => {
  test("has a line for each metric and peer, sorted by row", ({ expect }) => {
    const lines = linesOf([CALL, BILL]);
    expect(lines.map(({ row, unit, ratio }) => [row, unit, ratio])).toEqual([
      ["bill", "$", undefined], // nothing divides by nothing
      ["call", "req/s", 2],
      ["call", "ms", 0.25],
    ]);
    expect(lines[1]).toMatchObject({
      ours: { name: "Edgeway", value: 1100, low: 1000, high: 1200 },
      peer: { name: "McpAgent", value: 550, low: 500, high: 600 },
    });
  });

  test("has one of ours alone where nobody does the same", ({ expect }) => {
    const alone = { ...BILL, measured: BILL.measured.slice(0, 1) };
    expect(linesOf([alone])).toMatchObject([{ row: "bill", ours: { value: 0.3 } }]);
    expect(linesOf([alone])[0]).not.toHaveProperty("peer");
  });

  test("has none at all when a number is missing", ({ expect }) => {
    const [ours, peer] = CALL.measured;
    const broken = [{ requests: 500 }, { requests: 600 }, { requests: 500 }];
    const measured = [ours, { name: peer?.name ?? "", samples: broken }].filter(
      (each) => each !== undefined,
    );
    expect(() => linesOf([{ ...CALL, measured }])).toThrow("no number");
    expect(() => linesOf([{ ...CALL, measured: [] }])).toThrow("call has no measurement");
  });

  test("takes the sums of all rounds where a metric is one, for the value and the ratio", ({
    expect,
  }) => {
    // The second round was hardly one, and its garbage was collected.
    const samples = [
      { answered: 100, cpuSeconds: 0.1, cpuRequests: 1000 },
      { answered: 1, cpuSeconds: 0.9, cpuRequests: 1.1 },
    ];
    const peers = [
      { answered: 100, cpuSeconds: 0.05, cpuRequests: 2000 },
      { answered: 102, cpuSeconds: 0.05, cpuRequests: 2040 },
    ];
    const measured = [
      { name: "Edgeway", samples },
      { name: "peer", samples: peers },
    ];
    const [line] = linesOf([{ ...CALL, metrics: [CPU_REQUESTS], measured }]);
    expect(line?.ours).toMatchObject({ value: 101, low: 1.1, high: 1000 });
    expect(line?.ratio).toBeCloseTo(101 / 2020, 10);
  });

  test("measures each against the load generator, in rates alone", ({ expect }) => {
    const ceiling = { name: "load", samples: [rate(1300)] }; // of which 1,100 are near
    const lines = linesOf([{ ...CALL, ceiling }]);
    expect(lines.map(({ unit, peer }) => [unit, peer?.name])).toEqual([
      ["req/s", "McpAgent"],
      ["req/s", "load"],
      ["ms", "McpAgent"],
    ]);
    expect(lines[0]?.ours.isNearCeiling).toBe(true);
    expect(lines[0]?.peer?.isNearCeiling).toBeUndefined();
    expect(lines[2]?.ours.isNearCeiling).toBeUndefined();
  });
});
