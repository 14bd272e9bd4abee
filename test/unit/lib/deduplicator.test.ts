/** One change that several sources report counts once; two changes count twice. */

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { Deduplicator } from "../../../src/lib/deduplicator.ts";

const WINDOW_MS = 1000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

/** What of it is new, told in this order by these. */
function news(tellings: Deduplicator<string>, tellers: string): string {
  return tellers
    .split("")
    .filter((by) => tellings.isNew("x", by))
    .join("");
}

describe("a report", () => {
  test.for([
    { tellers: "ab", told: "a" },
    { tellers: "aab", told: "aa" },
    { tellers: "aabbb", told: "aab" },
    { tellers: "abab", told: "aa" },
    { tellers: "abba", told: "ab" },
    { tellers: "abc", told: "a" },
    { tellers: "abcabc", told: "aa" },
  ])("by $tellers is new of $told", ({ tellers, told }, { expect }) => {
    expect(news(new Deduplicator(), tellers)).toBe(told);
  });

  test("of something else is new", ({ expect }) => {
    const tellings = new Deduplicator<string>();
    expect([tellings.isNew("x", "a"), tellings.isNew("y", "b")]).toEqual([true, true]);
  });

  test("after the window is another change", ({ expect }) => {
    const tellings = new Deduplicator<string>();
    news(tellings, "a");
    vi.setSystemTime(Date.now() + WINDOW_MS - 1);
    expect(news(tellings, "b")).toBe("");
    expect(news(tellings, "a")).toBe("a");
    vi.setSystemTime(Date.now() + WINDOW_MS);
    expect(news(tellings, "b")).toBe("b");
  });

  test("is new as often as the source with the most reports has sent it", ({ expect }) => {
    const tellers = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 30 });
    fc.assert(
      fc.property(tellers, (some) => {
        const counts = ["a", "b", "c"].map((by) => some.filter((one) => one === by).length);
        expect(news(new Deduplicator(), some.join(""))).toHaveLength(Math.max(...counts));
      }),
      { numRuns: 200 },
    );
  });

  test("is remembered only up to a bound", ({ expect }) => {
    const tellings = new Deduplicator<string>();
    for (let n = 0; n <= 256; n++) tellings.isNew(String(n), "a");
    expect([tellings.isNew("0", "b"), tellings.isNew("256", "b")]).toEqual([true, false]);
  });
});
