/** What the project wants to reach, and whether this run did. Pure. */

import type { Line } from "./lines.ts";
import { OURS, REQUESTS, UPSTREAM } from "./row.ts";
import { summarize } from "./statistics.ts";

export interface Target {
  readonly wanted: string;
  /** In words, with what it was measured of; what is missing where nothing was measured. */
  readonly measured: string;
  readonly outcome: "met" | "missed" | "not measured";
}

interface Aim {
  readonly wanted: string;
  /** Which lines it is read off. */
  readonly of: (line: Line) => boolean;
  /** What is held against the limit. */
  readonly value: (line: Line) => number | undefined;
  readonly isMet: (value: number) => boolean;
  readonly digits: number;
}

const RATE_SHARE = 0.7;
const TIMES_AGENT = 3;
const ADDED_MS = 1;
const FAN_OUT_MS = 1000;
const GZIP_KIB = 120;
const START_MS = 50;

const AIMS: readonly Aim[] = [
  {
    wanted: `a modern proxied call: at least ${RATE_SHARE} of the upstream's own req/s`,
    of: isRate("call-proxied-modern", UPSTREAM),
    ...{ value: ratioOf, isMet: (ratio) => ratio >= RATE_SHARE, digits: 2 },
  },
  {
    wanted: `a call in a session: at least ${TIMES_AGENT} times McpAgent's req/s`,
    of: isRate("call-hosted-legacy", "McpAgent"),
    ...{ value: ratioOf, isMet: (ratio) => ratio >= TIMES_AGENT, digits: 2 },
  },
  {
    wanted: `p50 that the gateway adds at 1 connection: under ${ADDED_MS} ms`,
    of: ({ row, variant, unit, peer }) =>
      row.startsWith("call-proxied") &&
      variant === "1 conn." &&
      unit === "ms p50" &&
      peer?.name === UPSTREAM,
    ...{ value: addedTo, isMet: (ms) => ms < ADDED_MS, digits: 2 },
  },
  {
    wanted: `fan-out to 1,000: under ${FAN_OUT_MS} ms`,
    of: ({ row, variant }) => row === "fan-out" && variant.startsWith("1000 "),
    ...{ value: ({ ours }) => ours.median, isMet: (ms) => ms < FAN_OUT_MS, digits: 0 },
  },
  {
    wanted: `the bundle: under ${GZIP_KIB} KiB gzip`,
    of: ({ row, unit }) => row === "bundle" && unit === "KiB gzip",
    ...{ value: ({ ours }) => ours.median, isMet: (kib) => kib < GZIP_KIB, digits: 0 },
  },
  {
    wanted: `start-up: under ${START_MS} ms of CPU more than an empty Worker's`,
    of: ({ row, unit, peer }) =>
      row === "start-up" && unit === "ms CPU" && peer?.name === "an empty Worker",
    ...{ value: addedTo, isMet: (ms) => ms < START_MS, digits: 0 },
  },
];

/** A target that is measured in several ways is met when all of them meet it. */
export function targetsOf(lines: readonly Line[]): readonly Target[] {
  return AIMS.map(({ wanted, of, value, isMet, digits }): Target => {
    const found = new Map<string, number>();
    for (const line of lines.filter(of)) {
      const measured = value(line);
      if (measured !== undefined) found.set(placeOf(line), measured);
    }
    if (found.size === 0) return { wanted, measured: "–", outcome: "not measured" };
    const said = [...found].map(([place, measured]) => `${measured.toFixed(digits)} (${place})`);
    const outcome = [...found.values()].every(isMet) ? "met" : "missed";
    return { wanted, measured: said.join(", "), outcome };
  });
}

function isRate(row: string, peer: string): Aim["of"] {
  return (line) => line.row === row && line.unit === REQUESTS.unit && line.peer?.name === peer;
}

function ratioOf({ ratio }: Line): number | undefined {
  return ratio;
}

/** What ours takes more than the peer in the same round. */
function addedTo({ ours, peer }: Line): number | undefined {
  if (peer === undefined) return undefined;
  return summarize(ours.samples.map((own, round) => own - (peer.samples[round] ?? Number.NaN)))
    .median;
}

function placeOf({ row, variant }: Line): string {
  return row.startsWith("call-proxied") && variant === "1 conn."
    ? `${row.replace("call-proxied-", "")}, ${variant}`
    : variant;
}

export function targetsAsRows(targets: readonly Target[]): readonly (readonly string[])[] {
  return targets.map(({ wanted, measured, outcome }) => [wanted, measured, outcome]);
}

/** How the one who reads them knows whose they are. */
export const TARGET_HEADINGS = [`target of ${OURS}`, "measured", ""];
