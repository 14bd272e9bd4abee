/** Percentiles of buckets: never below the true one, and in the same bucket. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { BOUNDS_MS, bucketOf, BUCKETS, percentile } from "../../../src/activity/histogram.ts";

function bucketsOf(times: readonly number[]): readonly number[] {
  const buckets = Array<number>(BUCKETS).fill(0);
  for (const ms of times) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1;
  return buckets;
}

const times = fc.array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 60 });

describe("a percentile", () => {
  test("is the bound of the bucket that the true one is in", ({ expect }) => {
    fc.assert(
      fc.property(times, fc.constantFrom(0.5, 0.95), (all, share) => {
        const sorted = all.toSorted((a, b) => a - b);
        const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
        const bound = BOUNDS_MS[bucketOf(exact)] ?? Infinity;
        expect(percentile(bucketsOf(all), share)).toBe(bound);
      }),
    );
  });

  test("of two shards is that of all their calls", ({ expect }) => {
    fc.assert(
      fc.property(times, times, (one, other) => {
        const [a, b] = [bucketsOf(one), bucketsOf(other)];
        const sum = a.map((count, index) => count + (b[index] ?? 0));
        expect(percentile(sum, 0.95)).toBe(percentile(bucketsOf([...one, ...other]), 0.95));
      }),
    );
  });

  test("is none without calls", ({ expect }) => {
    expect(percentile(bucketsOf([]), 0.5)).toBeUndefined();
  });
});
