/** Two runs of the benchmark: when they say the same. */

import { test } from "vitest";

import { agreementAsText, doAgree, pairsOf } from "../../../bench/agreement.ts";
import type { Line } from "../../../bench/lines.ts";

function line(unit: string, ratio: number | undefined, peer = "McpAgent"): Line {
  const value = { name: "", value: 1, median: 1, low: 1, high: 1, samples: [1] };
  const common = { row: "call", variant: "1 conn.", unit, digits: 0, ours: value };
  return { ...common, peer: { ...value, name: peer }, ...(ratio === undefined ? {} : { ratio }) };
}

const agree = (unit: string, ratio: number): boolean =>
  doAgree(pairsOf([line(unit, 1)], [line(unit, ratio)]));

test("ratios are paired by name, whatever their order, and have the same distance both ways", ({
  expect,
}) => {
  const first = [line("req/CPU-s", 2), line("req/CPU-s", 4, "other"), line("ms", 1)];
  const second = [line("req/CPU-s", 5, "other"), line("req/CPU-s", 2), line("ms", undefined)];
  const pairs = pairsOf(first, second);
  expect(pairs.map(({ apart }) => apart)).toEqual([0, 0.25]);
  expect(pairsOf(second, first).map(({ apart }) => apart)).toEqual([0.25, 0]);
});

test("only what is computed for a request has to agree", ({ expect }) => {
  expect(agree("req/CPU-s", 1.15)).toBe(true);
  expect(agree("req/CPU-s", 1.16)).toBe(false);
  expect(agree("req/CPU-s", 0.86)).toBe(false);
  expect(agree("req/s", 2)).toBe(true);
});

test("the worst of those that count is on top, and the sum is said", ({ expect }) => {
  const units = [line("req/s", 1), line("req/CPU-s", 1), line("req/CPU-s", 1, "worst")];
  const others = [line("req/s", 9), line("req/CPU-s", 1.1), line("req/CPU-s", 2, "worst")];
  const [worst, , rate, sum] = agreementAsText(pairsOf(units, others)).split("\n");
  expect(worst).toMatch(
    /^ +1\.00 +2\.00 +100\.0 % {2}DIFFERS {2}call, 1 conn\., req\/CPU-s, worst$/,
  );
  expect(rate).toMatch(/ 800\.0 % {11}call, 1 conn\., req\/s, McpAgent$/);
  expect(sum).toBe("1 of 2 ratios of req/CPU-s are within 15 %");
});

test("runs with nothing in common do not agree: they cannot be compared", ({ expect }) => {
  expect(() => pairsOf([line("ms", 1)], [])).toThrow("no ratio in common");
});
