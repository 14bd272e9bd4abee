/** Numbers that are given out once each. */

import * as fc from "fast-check";
import { test } from "vitest";

import { DistinctNumbers } from "../../../src/lib/distinct-numbers.ts";

test("whoever comes first has it, and the next that is free is taken", ({ expect }) => {
  const numbers = new DistinctNumbers(10n);
  const taken = [7n, 7n, 8n, 7n, 9n, 3n, 13n].map((wanted) => numbers.take(wanted));
  expect(taken).toEqual([7n, 8n, 9n, 0n, 1n, 3n, 4n]);
});

test("it is as if one looked at each number in turn", ({ expect }) => {
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: 0n, max: 40n }), { maxLength: 20 }), (wanted) => {
      const numbers = new DistinctNumbers(20n);
      const taken = new Set<bigint>();
      for (const number of wanted) {
        let free = number % 20n;
        while (taken.has(free)) free = (free + 1n) % 20n;
        taken.add(free);
        expect(numbers.take(number)).toBe(free);
      }
    }),
  );
});

test("it is no slower when somebody has made all of them collide", ({ expect }) => {
  const numbers = new DistinctNumbers(2n ** 64n);
  const start = performance.now();
  for (let at = 0; at < 50_000; at += 1) numbers.take(5n);
  // Everybody in the middle of what is taken.
  for (let at = 0n; at < 50_000n; at += 1n) numbers.take(5n + at);
  // 5,000,000,000 steps, if each looked at each.
  expect(performance.now() - start).toBeLessThan(5000);
  expect(numbers.take(5n)).toBe(100_005n);
});
