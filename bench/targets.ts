/** What the project wants to reach, each target as a number of one run, and whether this run did. Pure. */

import type { Line } from "./lines.ts";
import {
  additions,
  growth,
  ratios,
  type Read,
  type Reading,
  values,
  type Where,
} from "./readings.ts";
import {
  CPU_REQUESTS,
  EMPTY,
  EVENTS,
  GZIP,
  MEBIBYTES,
  MILLISECONDS,
  P50,
  PASSING,
  PASSING_OBJECT,
  REQUESTS,
  SESSIONS,
  START,
  UPSTREAM,
} from "./row.ts";

export interface Target {
  /** The paragraph about a target that is missed names it so. */
  readonly name: string;
  readonly against: string;
  /** In words; if it was measured in several ways, with each of them. */
  readonly measured: string;
  readonly wanted: string;
  readonly outcome: "met" | "missed" | "not measured";
}

interface Aim {
  readonly name: string;
  readonly against: string;
  readonly limit: Limit;
  readonly read: Read;
}

type Limit = { readonly atLeast: number } | { readonly atMost: number };

const P50_AT_1 = { row: "call-proxied-modern", variant: "1 conn.", unit: P50.unit };
const STARTS = { row: "start-up", unit: START.unit };
const IDLE = { row: "idle", unit: MEBIBYTES.unit, peer: "McpAgent" };

const AIMS: readonly Aim[] = [
  {
    name: "Modern call, proxied, requests per processor-second",
    ...{ against: PASSING, limit: { atLeast: 0.88 } },
    read: ratios({ ...cpuAt16("call-proxied-modern"), peer: PASSING }),
  },
  {
    name: "Modern call, proxied, p50 added at 1 connection",
    ...{ against: `what ${PASSING} adds`, limit: { atMost: 1.4 } },
    read: additions({ ...P50_AT_1, peer: UPSTREAM }, { ...P50_AT_1, peer: PASSING }),
  },
  {
    name: "Legacy call, proxied, requests per processor-second",
    ...{ against: PASSING_OBJECT, limit: { atLeast: 0.85 } },
    read: ratios({ ...cpuAt16("call-proxied-legacy"), peer: PASSING_OBJECT }),
  },
  {
    name: "Legacy call, hosted, requests per second",
    ...{ against: "McpAgent", limit: { atLeast: 2 } },
    read: ratios({ row: "call-hosted-legacy", unit: REQUESTS.unit, peer: "McpAgent" }),
  },
  {
    name: "Events of legacy streams",
    ...{ against: "McpAgent", limit: { atLeast: 2 } },
    read: ratios({ row: "events-legacy", unit: EVENTS.unit, peer: "McpAgent" }),
  },
  {
    name: "Events of one modern stream",
    ...{ against: UPSTREAM, limit: { atLeast: 0.85 } },
    read: ratios({ ...{ row: "events-modern", variant: "1 stream" }, ...eventsOf(UPSTREAM) }),
  },
  {
    name: "Events of 100 modern streams",
    ...{ against: UPSTREAM, limit: { atLeast: 0.9 } },
    read: ratios({ ...{ row: "events-modern", variant: "100 streams" }, ...eventsOf(UPSTREAM) }),
  },
  {
    name: "Session set-up, sessions per second",
    ...{ against: "McpAgent", limit: { atLeast: 4 } },
    read: ratios({ row: "set-up", unit: SESSIONS.unit, peer: "McpAgent" }),
  },
  {
    name: "Fan-out to 1,000 sessions, asleep",
    ...{ against: "milliseconds", limit: { atMost: 1000 } },
    read: values({ row: "fan-out", variant: "1000 sessions, asleep", unit: MILLISECONDS.unit }),
  },
  {
    name: "Memory of an idle stream, of 1,000",
    ...{ against: "McpAgent", limit: { atMost: 0.5 } },
    read: growth({ ...IDLE, variant: "0 streams" }, { ...IDLE, variant: "1000 streams" }),
  },
  {
    name: "Start-up, processor time over an empty Worker's",
    ...{ against: "createMcpHandler", limit: { atMost: 0.4 } },
    read: additions({ ...STARTS, peer: EMPTY }, { ...STARTS, peer: "createMcpHandler" }),
  },
  {
    name: "Bundle, deployed, gzip",
    ...{ against: "McpAgent", limit: { atMost: 0.56 } },
    read: ratios({ row: "bundle", unit: GZIP.unit, peer: "McpAgent" }),
  },
];

/** A target that is measured in several ways is met when all of them meet it. */
export function targetsOf(lines: readonly Line[]): readonly Target[] {
  return AIMS.map(({ name, against, limit, read }): Target => {
    const readings = read(lines);
    const isMet = readings.every(({ value }) => meets(value, limit));
    const outcome = readings.length === 0 ? "not measured" : isMet ? "met" : "missed";
    return { name, against, measured: inWords(readings), wanted: limitInWords(limit), outcome };
  });
}

function cpuAt16(row: string): Pick<Where, "row" | "variant" | "unit"> {
  return { row, variant: "16 conn.", unit: CPU_REQUESTS.unit };
}

function eventsOf(peer: string): Pick<Where, "unit" | "peer"> {
  return { unit: EVENTS.unit, peer };
}

function meets(value: number, limit: Limit): boolean {
  return "atLeast" in limit ? value >= limit.atLeast : value <= limit.atMost;
}

function limitInWords(limit: Limit): string {
  return "atLeast" in limit
    ? `at least ${limit.atLeast}`
    : `at most ${limit.atMost.toLocaleString("en-US")}`;
}

function inWords(readings: readonly Reading[]): string {
  const [first, ...more] = readings;
  if (first === undefined) return "–";
  if (more.length === 0) return numberInWords(first.value);
  return readings.map(({ variant, value }) => `${numberInWords(value)} (${variant})`).join(", ");
}

function numberInWords(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

export const TARGET_HEADINGS = ["target", "against", "measured", "wanted", ""];

export function targetsAsRows(targets: readonly Target[]): readonly (readonly string[])[] {
  return targets.map(({ name, against, measured, wanted, outcome }) => [
    ...[name, against, measured, wanted, outcome],
  ]);
}
