/** A stopwatch counts no pause, and none twice. */

import { test } from "vitest";

import { Stopwatch } from "../../../src/lib/stopwatch.ts";

test("the time without the pauses, which may overlap", ({ expect }) => {
  let now = 100;
  const stopwatch = new Stopwatch(() => now);
  now = 110;
  const first = stopwatch.pause();
  now = 120;
  const second = stopwatch.pause();
  first();
  now = 130;
  expect(stopwatch.ms).toBe(10);
  second();
  now = 135;
  expect(stopwatch.ms).toBe(15);
});
