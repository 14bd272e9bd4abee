/** The targets of the benchmark: which are met, and which nobody can tell. */

import { test } from "vitest";

import { type Line, linesOf } from "../../../bench/lines.ts";
import {
  CPU_REQUESTS,
  EMPTY,
  EVENTS,
  GZIP,
  MEBIBYTES,
  type Metric,
  MILLISECONDS,
  P50,
  PASSING,
  PASSING_OBJECT,
  REQUESTS,
  SESSIONS,
  START,
  UPSTREAM,
} from "../../../bench/row.ts";
import { targetsOf } from "../../../bench/targets.ts";

/** The samples of each round, by participant: ours first. */
type Rounds = Readonly<Record<string, readonly number[]>>;

const PLACE = "call-proxied-modern, 1 conn.";

/** @param place row and variant. */
function measured(place: string, { key, unit, digits }: Metric, rounds: Rounds): readonly Line[] {
  const [row = "", ...variant] = place.split(", ");
  const participants = Object.entries(rounds).map(([name, values]) => ({
    name,
    samples: values.map((value) => ({ [key]: value })),
  }));
  const metrics = [{ key, unit, digits }];
  return linesOf([
    { row, variant: variant.join(", "), metrics, measured: participants, notes: [] },
  ]);
}

/** Of the targets that could be read: what was measured, and what came of it. */
function outcomes(...lines: readonly (readonly Line[])[]): unknown {
  return targetsOf(lines.flat())
    .filter(({ outcome }) => outcome !== "not measured")
    .map(({ measured: said, outcome }) => [said, outcome]);
}

const streams = (count: string, ours: number): readonly Line[] =>
  measured(`events-legacy, ${count}`, EVENTS, { Edgeway: [ours], McpAgent: [100] });

const p50 = (ours: readonly number[]): readonly Line[] =>
  measured(PLACE, P50, { Edgeway: ours, [UPSTREAM]: [1, 2, 1], [PASSING]: [2, 3, 9] });

const starts = (ours: number): readonly Line[] =>
  measured("start-up, first answer", START, {
    ...{ Edgeway: [ours], createMcpHandler: [130] },
    [EMPTY]: [30],
  });

const idle = (streams: string, ours: number, its: number): readonly Line[] =>
  measured(`idle, ${streams}`, MEBIBYTES, { Edgeway: [ours], McpAgent: [its] });

const fanOut = (variant: string, ms: number): readonly Line[] =>
  measured(`fan-out, ${variant}`, MILLISECONDS, { Edgeway: [ms] });

test("nothing was measured: every target says so, and none is met", ({ expect }) => {
  const targets = targetsOf([]);
  expect(targets).toHaveLength(12);
  expect(new Set(targets.map(({ outcome }) => outcome))).toEqual(new Set(["not measured"]));
});

test.for([
  ["call-proxied-modern, 16 conn.", CPU_REQUESTS, PASSING, 88, 87],
  ["call-proxied-legacy, 16 conn.", CPU_REQUESTS, PASSING_OBJECT, 85, 84],
  ["call-hosted-legacy, 16 conn.", REQUESTS, "McpAgent", 200, 199],
  ["events-legacy, 1 stream", EVENTS, "McpAgent", 200, 199],
  ["events-modern, 1 stream", EVENTS, UPSTREAM, 85, 84],
  ["events-modern, 100 streams", EVENTS, UPSTREAM, 90, 89],
  ["set-up, 4 at once", SESSIONS, "McpAgent", 400, 399],
  ["bundle, minified", GZIP, "McpAgent", 56, 57],
] as const)(
  "a share of what another one reaches: %s",
  ([place, metric, peer, enough, short], { expect }) => {
    const against = (ours: number): readonly Line[] =>
      measured(place, metric, { Edgeway: [ours], [peer]: [100] });
    expect(outcomes(against(enough))).toEqual([[(enough / 100).toFixed(2), "met"]]);
    expect(outcomes(against(short))).toEqual([[(short / 100).toFixed(2), "missed"]]);
  },
);

test("a target that is measured in several ways is met when all of them meet it", ({ expect }) => {
  expect(outcomes(streams("1 stream", 200), streams("100 streams", 250))).toEqual([
    ["2.00 (1 stream), 2.50 (100 streams)", "met"],
  ]);
  expect(outcomes(streams("1 stream", 199), streams("100 streams", 250))).toEqual([
    ["1.99 (1 stream), 2.50 (100 streams)", "missed"],
  ]);
});

test("what a hop adds is held against what a hop adds that does nothing, by the medians of the rounds", ({
  expect,
}) => {
  expect(outcomes(p50([2.4, 3.4, 5]))).toEqual([["1.40", "met"]]);
  expect(outcomes(p50([2.4, 3.5, 5]))).toEqual([["1.50", "missed"]]);
});

test("no number is read when the hop that does nothing seems to add nothing", ({ expect }) => {
  const rounds = { Edgeway: [3], [UPSTREAM]: [2], [PASSING]: [2] };
  expect(outcomes(measured(PLACE, P50, rounds))).toEqual([]);
  expect(outcomes(measured(PLACE, P50, { Edgeway: [3], [UPSTREAM]: [2] }))).toEqual([]);
});

test("start-up counts from what an empty Worker takes", ({ expect }) => {
  expect(outcomes(starts(70))).toEqual([["0.40", "met"]]);
  expect(outcomes(starts(71))).toEqual([["0.41", "missed"]]);
});

test("the memory of streams counts from what a server takes that has none", ({ expect }) => {
  const none = idle("0 streams", 60, 100);
  expect(outcomes(none, idle("1000 streams", 360, 700))).toEqual([["0.50", "met"]]);
  expect(outcomes(none, idle("1000 streams", 366, 700))).toEqual([["0.51", "missed"]]);
  expect(outcomes(none, idle("100 streams", 999, 700))).toEqual([]);
});

test("the fan-out to sleeping sessions has a limit in milliseconds", ({ expect }) => {
  expect(outcomes(fanOut("1000 sessions, asleep", 1000))).toEqual([["1000", "met"]]);
  expect(outcomes(fanOut("1000 sessions, asleep", 1001))).toEqual([["1001", "missed"]]);
  expect(outcomes(fanOut("1000 sessions", 1001))).toEqual([]);
});
