/** Exponential backoff: the first pause, its doubling, and its bound. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { pauseMs } from "../../../src/lib/backoff.ts";

describe("an exponential backoff", () => {
  test("starts with the first pause and doubles it", ({ expect }) => {
    const pauses = [0, 1, 2, 3].map((retries) => pauseMs({ firstMs: 50 }, retries));
    expect(pauses).toEqual([50, 100, 200, 400]);
  });

  test("stops growing at its bound", ({ expect }) => {
    const backoff = { firstMs: 500, maxMs: 1500 };
    expect([0, 1, 2, 3].map((retries) => pauseMs(backoff, retries))).toEqual([
      500, 1000, 1500, 1500,
    ]);
  });

  test("keeps a first pause longer than the bound within the bound", ({ expect }) => {
    expect(pauseMs({ firstMs: 500, maxMs: 100 }, 0)).toBe(100);
  });

  test("never shrinks and never passes its bound, after any number of retries", ({ expect }) => {
    const firstMs = fc.integer({ min: 1, max: 60_000 });
    const retries = fc.nat({ max: 100_000 });
    fc.assert(
      fc.property(firstMs, firstMs, retries, (firstMs, maxMs, retries) => {
        const backoff = { firstMs, maxMs };
        const pause = pauseMs(backoff, retries);
        expect(pause).toBeLessThanOrEqual(maxMs);
        expect(pauseMs(backoff, retries + 1)).toBeGreaterThanOrEqual(pause);
      }),
    );
  });
});
