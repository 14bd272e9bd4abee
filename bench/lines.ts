/** Results line by line: one metric of ours beside that of one peer, with the ratio. Pure. */

import { type Metric, REQUESTS, type Result } from "./row.ts";
import { pairedRatio, sumRatio, type Summary, summarize } from "./statistics.ts";
import type { Measured } from "./turns.ts";

export interface Line {
  readonly row: string;
  readonly variant: string;
  readonly unit: string;
  readonly digits: number;
  readonly ours: Named;
  /** None where nobody else does the same. */
  readonly peer?: Named;
  /** Ours divided by the peer's; none where the peer's is nothing. */
  readonly ratio?: number;
}

export interface Named extends Summary {
  readonly name: string;
  /** What is said of all rounds: the median, or a sum by a sum. */
  readonly value: number;
  readonly samples: readonly number[];
  /** It may be the load generator's limit that was measured. */
  readonly isNearCeiling?: boolean;
}

/** From this share of what the load generator reaches, it may be what is measured. */
export const NEAR = 0.8;

/** @throws Error when a number is missing: then there is no table. */
export function linesOf(results: readonly Result[]): readonly Line[] {
  return results
    .flatMap((result) => result.metrics.flatMap((metric) => linesOfMetric(result, metric)))
    .toSorted((a, b) => (a.row < b.row ? -1 : Number(a.row > b.row)));
}

function linesOfMetric(
  { row, variant, measured, ceiling }: Result,
  metric: Metric,
): readonly Line[] {
  const limit =
    ceiling === undefined || metric.key !== REQUESTS.key ? undefined : namedOf(ceiling, metric);
  const named = measured.map((each): Named => {
    const one = namedOf(each, metric);
    const isNearCeiling = limit !== undefined && one.value / limit.value > NEAR;
    return isNearCeiling ? { ...one, isNearCeiling } : one;
  });
  const [ours, ...peers] = named;
  if (ours === undefined) throw new Error(`${row} has no measurement`);
  if (limit !== undefined) peers.push(limit);
  const { unit, digits } = metric;
  const common = { ...{ row, variant, unit, digits }, ours };
  if (peers.length === 0) return [common];
  return peers.map((peer) => {
    const isNothing = peer.samples.includes(0);
    return {
      ...common,
      peer,
      ...(isNothing ? {} : { ratio: ratioOf(ours, peer, metric) }),
    };
  });
}

function namedOf({ name, samples }: Measured, { key, sums }: Metric): Named {
  const valuesOf = (of: string): number[] => samples.map((sample) => sample[of] ?? Number.NaN);
  const values = valuesOf(key);
  const summary = summarize(values);
  const value =
    sums === undefined ? summary.median : sumRatio(valuesOf(sums.of), valuesOf(sums.by));
  return { name, samples: values, value, ...summary };
}

function ratioOf(ours: Named, peer: Named, { sums }: Metric): number {
  return sums === undefined ? pairedRatio(ours.samples, peer.samples) : ours.value / peer.value;
}
