/** One change that several sources report counts once; two changes count twice. */

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { Deduplicator } from "../../../src/lib/deduplicator.ts";

const WINDOW_MS = 1000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

/** The reports that are new, of these sources in this order. */
function newReports(deduplicator: Deduplicator<string>, sources: string): string {
  return sources
    .split("")
    .filter((by) => deduplicator.isNew("x", by))
    .join("");
}

describe("a report", () => {
  test.for([
    { sources: "ab", fresh: "a" },
    { sources: "aab", fresh: "aa" },
    { sources: "aabbb", fresh: "aab" },
    { sources: "abab", fresh: "aa" },
    { sources: "abba", fresh: "ab" },
    { sources: "abc", fresh: "a" },
    { sources: "abcabc", fresh: "aa" },
  ])("by the sources $sources is new from $fresh", ({ sources, fresh }, { expect }) => {
    expect(newReports(new Deduplicator(), sources)).toBe(fresh);
  });

  test("of something else is new", ({ expect }) => {
    const deduplicator = new Deduplicator<string>();
    expect([deduplicator.isNew("x", "a"), deduplicator.isNew("y", "b")]).toEqual([true, true]);
  });

  test("after the window is another change", ({ expect }) => {
    const deduplicator = new Deduplicator<string>();
    newReports(deduplicator, "a");
    vi.setSystemTime(Date.now() + WINDOW_MS - 1);
    expect(newReports(deduplicator, "b")).toBe("");
    expect(newReports(deduplicator, "a")).toBe("a");
    vi.setSystemTime(Date.now() + WINDOW_MS);
    expect(newReports(deduplicator, "b")).toBe("b");
  });

  test("is new as often as the source with the most reports has sent it", ({ expect }) => {
    const reports = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 30 });
    fc.assert(
      fc.property(reports, (some) => {
        const counts = ["a", "b", "c"].map((by) => some.filter((one) => one === by).length);
        expect(newReports(new Deduplicator(), some.join(""))).toHaveLength(Math.max(...counts));
      }),
      { numRuns: 200 },
    );
  });

  test("is remembered only up to a bound", ({ expect }) => {
    const deduplicator = new Deduplicator<string>();
    for (let n = 0; n <= 256; n++) deduplicator.isNew(String(n), "a");
    expect([deduplicator.isNew("0", "b"), deduplicator.isNew("256", "b")]).toEqual([true, false]);
  });
});
