/** Times in words. */

import { describe, test } from "vitest";

import { inFull, inWords, when } from "../../../src/pages/view/time.ts";

const NOW = Date.UTC(2026, 10, 21, 15, 30);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("inWords()", () => {
  const CASES: readonly (readonly [distance: number, words: string])[] = [
    [0, "just now"],
    [-59_000, "just now"],
    [30_000, "in less than a minute"],
    [-MINUTE, "1 minute ago"],
    [-90 * MINUTE, "1 hour ago"],
    [-23 * HOUR, "23 hours ago"],
    [-DAY, "yesterday"],
    [DAY, "tomorrow"],
    [-30 * DAY, "30 days ago"],
    [30 * DAY, "in 30 days"],
    [-31 * DAY, "21 Oct 2026"],
    [90 * DAY, "19 Feb 2027"],
  ];
  test.for(CASES)("%d ms: %s", ([distance, words], { expect }) => {
    expect(inWords(NOW + distance, NOW)).toBe(words);
  });
});

describe("when()", () => {
  test("has the exact time for machines, and in its tooltip", ({ expect }) => {
    expect(inFull(NOW)).toBe("21 Nov 2026, 15:30 UTC");
    const html = when(NOW, NOW).toString();
    expect(html).toContain('datetime="2026-11-21T15:30:00.000Z"');
    expect(html).toContain('title="21 Nov 2026, 15:30 UTC"');
  });
});
