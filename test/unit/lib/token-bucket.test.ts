/** A rate limit: bursts up to the limit, and then no more than the rate. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { TokenBucket, TokenBuckets } from "../../../src/lib/token-bucket.ts";

function bucketAt(perMinute: number): { bucket: TokenBucket; pass: (ms: number) => void } {
  let now = 1_000_000;
  return {
    bucket: new TokenBucket(perMinute, () => now),
    pass: (ms) => {
      now += ms;
    },
  };
}

describe("a token bucket", () => {
  test("is full at first, and then empty", ({ expect }) => {
    const { bucket } = bucketAt(3);
    expect([1, 2, 3, 4, 5].map(() => bucket.take())).toEqual([true, true, true, false, false]);
  });

  test("gets one token for each part of a minute", ({ expect }) => {
    const { bucket, pass } = bucketAt(3);
    for (let n = 0; n < 3; n++) bucket.take();
    pass(19_999);
    expect(bucket.take()).toBe(false);
    pass(1);
    expect([bucket.take(), bucket.take()]).toEqual([true, false]);
  });

  test("never holds more than its limit", ({ expect }) => {
    const { bucket, pass } = bucketAt(2);
    pass(3_600_000);
    expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([true, true, false]);
  });

  test("loses nothing by a refused request", ({ expect }) => {
    const { bucket, pass } = bucketAt(1);
    bucket.take();
    for (let n = 0; n < 60; n++) {
      pass(999);
      expect(bucket.take()).toBe(false);
    }
    pass(60);
    expect(bucket.take()).toBe(true);
  });

  test("returns how long to wait", ({ expect }) => {
    const { bucket, pass } = bucketAt(3);
    expect(bucket.waitMs).toBe(0);
    for (let n = 0; n < 4; n++) bucket.take();
    expect(bucket.waitMs).toBe(20_000);
    pass(bucket.waitMs);
    expect([bucket.take(), bucket.waitMs]).toEqual([true, 20_000]);
  });

  test("tolerates a clock that stands still or goes back", ({ expect }) => {
    const { bucket, pass } = bucketAt(2);
    bucket.take();
    pass(-60_000);
    expect(() => bucket.take()).not.toThrow();
    pass(600_000);
    expect(bucket.take()).toBe(true);
  });

  test("lets no more through in any span than its rate and one burst", ({ expect }) => {
    const waits = fc.array(fc.nat({ max: 20_000 }), { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), waits, (perMinute, waits) => {
        const { bucket, pass } = bucketAt(perMinute);
        let elapsed = 0;
        let taken = 0;
        for (const wait of waits) {
          pass(wait);
          elapsed += wait;
          if (bucket.take()) taken += 1;
          expect(taken).toBeLessThanOrEqual(perMinute + (elapsed * perMinute) / 60_000 + 1e-6);
        }
      }),
    );
  });
});

describe("the buckets of many keys", () => {
  test("count each key for itself", ({ expect }) => {
    const buckets = new TokenBuckets(10);
    const taken = ["a", "b", "a"].map((key) => buckets.of(key, 1).take());
    expect(taken).toEqual([true, true, false]);
  });

  test("forget the key that was used least recently, and no other", ({ expect }) => {
    const buckets = new TokenBuckets(2);
    for (const key of ["a", "b", "a", "c"]) buckets.of(key, 1).take();
    const taken = ["a", "c", "b"].map((key) => buckets.of(key, 1).take());
    expect(taken).toEqual([false, false, true]);
  });
});
