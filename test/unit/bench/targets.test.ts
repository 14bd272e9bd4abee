/** The targets of the benchmark: which are met, and which nobody can tell. */

import { test } from "vitest";

import { type Line, linesOf } from "../../../bench/lines.ts";
import { P50, REQUESTS, UPSTREAM } from "../../../bench/row.ts";
import { targetsOf } from "../../../bench/targets.ts";
import type { Sample } from "../../../bench/turns.ts";
import { rate } from "./fixture.ts";

const samplesOf = (requests: number, times: readonly number[]): Sample[] =>
  times.map((p50) => ({ ...rate(requests), p50 }));

function rates(row: string, variant: string, peer: string, ours: number, its: number): Line[] {
  const measured = [
    { name: "Edgeway", samples: samplesOf(ours, [3, 2.5]) },
    { name: peer, samples: samplesOf(its, [2.2, 1.8]) },
  ];
  const metrics = [REQUESTS, P50];
  return [...linesOf([{ row, variant, metrics, measured, notes: [] }])];
}

function one(row: string, variant: string, unit: string, value: number, peer?: number): Line[] {
  const metrics = [{ key: "value", unit, digits: 0 }];
  const measured = [{ name: "Edgeway", samples: [{ value }] }];
  if (peer !== undefined) measured.push({ name: "an empty Worker", samples: [{ value: peer }] });
  return [...linesOf([{ row, variant, metrics, measured, notes: [] }])];
}

const outcomes = (lines: readonly Line[]): unknown =>
  targetsOf(lines)
    .filter(({ outcome }) => outcome !== "not measured")
    .map(({ measured, outcome }) => [measured, outcome]);

const proxied = (at16: number): Line[] => [
  ...rates("call-proxied-modern", "16 conn.", UPSTREAM, at16, 100),
  ...rates("call-proxied-modern", "64 conn.", UPSTREAM, 70, 100),
  ...rates("call-proxied-modern", "64 conn.", "mcp-proxy", 1, 100),
];

const call = (ours: number): Line[] =>
  rates("call-hosted-legacy", "16 conn.", "McpAgent", ours, 100);

const outcome = (lines: readonly Line[]): unknown =>
  targetsOf(lines).find((target) => target.outcome !== "not measured")?.outcome;

test("nothing was measured: every target says so, and none is met", ({ expect }) => {
  const targets = targetsOf([]);
  expect(targets).toHaveLength(6);
  expect(new Set(targets.map(({ outcome }) => outcome))).toEqual(new Set(["not measured"]));
});

test("a rate has to be reached at every number of connections", ({ expect }) => {
  expect(outcomes(proxied(90))).toEqual([["0.90 (16 conn.), 0.70 (64 conn.)", "met"]]);
  expect(outcomes(proxied(69))).toEqual([["0.69 (16 conn.), 0.70 (64 conn.)", "missed"]]);
});

test("a session's call is held against McpAgent's", ({ expect }) => {
  expect(outcomes(call(300))).toEqual([["3.00 (16 conn.)", "met"]]);
  expect(outcomes(call(299))).toEqual([["2.99 (16 conn.)", "missed"]]);
});

test("what is added at one connection is the median of the rounds' differences", ({ expect }) => {
  const lines = rates("call-proxied-legacy", "1 conn.", UPSTREAM, 1, 1);
  expect(outcomes(lines)).toEqual([["0.75 (legacy, 1 conn.)", "met"]]);
});

test("fan-out, bundle and start-up have limits of their own", ({ expect }) => {
  expect(outcome(one("fan-out", "1000 sessions", "ms", 999))).toBe("met");
  expect(outcome(one("fan-out", "1000 listeners", "ms", 1000))).toBe("missed");
  expect(outcome(one("fan-out", "100 listeners", "ms", 1000))).toBeUndefined();
  expect(outcome(one("bundle", "minified", "KiB gzip", 119))).toBe("met");
  expect(outcome(one("bundle", "minified", "KiB gzip", 120))).toBe("missed");
  expect(outcome(one("start-up", "first answer", "ms CPU", 99, 50))).toBe("met");
  expect(outcome(one("start-up", "first answer", "ms CPU", 100, 50))).toBe("missed");
});
