/** The arithmetic of the benchmark: a wrong ratio in the documents is worse than none. */

import { describe, test } from "vitest";

import { pairedRatio, percentile, summarize, sumRatio } from "../../../bench/statistics.ts";

describe("summarize()", () => {
  test("takes the middle of an odd number, and between the two of an even one", ({ expect }) => {
    expect(summarize([30, 1, 2])).toEqual({ median: 2, low: 1, high: 30 });
    expect(summarize([10, 1, 3, 2])).toEqual({ median: 2.5, low: 1, high: 10 });
    expect(summarize([7])).toEqual({ median: 7, low: 7, high: 7 });
  });

  test("orders numbers as numbers", ({ expect }) => {
    expect(summarize([100, 9, 20]).median).toBe(20);
  });

  test("has nothing to say of nothing, or of what is no number", ({ expect }) => {
    expect(() => summarize([])).toThrow("Nothing was measured");
    for (const value of [Number.NaN, Infinity]) {
      expect(() => summarize([1, value])).toThrow("no number");
    }
  });
});

describe("percentile()", () => {
  test("is the smallest value that enough are not above", ({ expect }) => {
    const values = Array.from({ length: 100 }, (_, n) => 100 - n);
    expect(percentile(values, 0.5)).toBe(50);
    expect(percentile(values, 0.99)).toBe(99);
    expect(percentile(values, 1)).toBe(100);
    expect(percentile(values, 0)).toBe(1);
    expect(percentile([5], 0.99)).toBe(5);
  });
});

describe("pairedRatio()", () => {
  test("compares each round with itself, so that a slow one counts for nothing", ({ expect }) => {
    // The machine was three times as slow in the second round, for both.
    expect(pairedRatio([200, 60, 210, 190, 200], [100, 30, 105, 95, 100])).toBe(2);
  });

  test("is the median of the ratios, not the ratio of the medians", ({ expect }) => {
    expect(pairedRatio([1, 2, 30], [1, 4, 10])).toBe(1);
  });

  test("refuses rounds that do not match, and a peer that did nothing", ({ expect }) => {
    expect(() => pairedRatio([1, 2], [1])).toThrow("2 rounds cannot be paired with 1");
    expect(() => pairedRatio([1], [0])).toThrow("no number");
  });
});

describe("sumRatio()", () => {
  test("weighs each round by what was done in it", ({ expect }) => {
    // A round with hardly anything in it says hardly anything.
    expect(sumRatio([100, 1], [10, 1])).toBeCloseTo(101 / 11, 10);
  });

  test("refuses what is missing, and nothing to divide by", ({ expect }) => {
    expect(() => sumRatio([1, 2], [1])).toThrow("no number");
    expect(() => sumRatio([1], [0])).toThrow("no number");
    expect(() => sumRatio([1, Number.NaN], [1, 1])).toThrow("no number");
    expect(() => sumRatio([], [])).toThrow("no number");
  });
});
