/** A row of the benchmark: what is measured, of whom, and what came of it. */

import type { Measured } from "./turns.ts";

export interface Metric {
  /** The key in the samples. */
  readonly key: string;
  readonly unit: string;
  /** Digits after the point. */
  readonly digits: number;
  /** The value is one sum over all rounds by another, by their keys: what is rare counts as it should. */
  readonly sums?: { readonly of: string; readonly by: string };
}

/** One line of the table for each metric and peer. */
export interface Result {
  /** The row, and what was varied in it: `call proxied modern`, `16 connections`. */
  readonly row: string;
  readonly variant: string;
  readonly metrics: readonly Metric[];
  /** Ours first. */
  readonly measured: readonly Measured[];
  /** What the load generator reached before, against a Worker that only answers. */
  readonly ceiling?: Measured;
  readonly notes: readonly string[];
}

export const REQUESTS: Metric = {
  ...{ key: "requests", unit: "req/s", digits: 0 },
  sums: { of: "answered", by: "seconds" },
};
/** Requests for each second that the processes which serve them, all together, have computed. */
export const CPU_REQUESTS: Metric = {
  ...{ key: "cpuRequests", unit: "req/CPU-s", digits: 0 },
  sums: { of: "answered", by: "cpuSeconds" },
};
export const P50: Metric = { key: "p50", unit: "ms p50", digits: 2 };
export const P99: Metric = { key: "p99", unit: "ms p99", digits: 2 };
export const EVENTS: Metric = { key: "events", unit: "events/s", digits: 0 };
export const MILLISECONDS: Metric = { key: "ms", unit: "ms", digits: 1 };
export const SESSIONS: Metric = { key: "sessions", unit: "sessions/s", digits: 0 };
export const MEBIBYTES: Metric = { key: "mib", unit: "MiB", digits: 0 };
export const GZIP: Metric = { key: "gzip", unit: "KiB gzip", digits: 0 };
/** Processor time of all threads, from the start of a process to its first answer. */
export const START: Metric = { key: "cpu", unit: "ms CPU", digits: 0 };

/** What ours is called everywhere. */
export const OURS = "Edgeway";
/** The same, with `ACTIVITY` off. */
export const UNRECORDED = "Edgeway that records no calls";
/** What is in front of what: the limit of any gateway. */
export const UPSTREAM = "the upstream itself";
/** What a hop costs that does nothing but pass bytes on: directly, or by one call of a session's object. */
export const PASSING = "a Worker that passes bytes on";
export const PASSING_OBJECT = "a Worker that passes bytes on through an object";
/** What starting anything takes. */
export const EMPTY = "an empty Worker";
