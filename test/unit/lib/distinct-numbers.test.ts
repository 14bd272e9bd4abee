/** Numbers that are given out once each. */

import * as fc from "fast-check";
import { test } from "vitest";

import { DistinctNumbers } from "../../../src/lib/distinct-numbers.ts";

test("the first caller gets its number, and later ones the next that is free", ({ expect }) => {
  const numbers = new DistinctNumbers(10n);
  const taken = [7n, 7n, 8n, 7n, 9n, 3n, 13n].map((wanted) => numbers.take(wanted));
  expect(taken).toEqual([7n, 8n, 9n, 0n, 1n, 3n, 4n]);
});

test("the result is the same as that of a linear search", ({ expect }) => {
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

test("it is no slower when all keys were made to collide", ({ expect }) => {
  const numbers = new DistinctNumbers(2n ** 64n);
  const start = performance.now();
  for (let at = 0; at < 50_000; at += 1) numbers.take(5n);
  // All keys in the middle of the numbers that are taken.
  for (let at = 0n; at < 50_000n; at += 1n) numbers.take(5n + at);
  // A linear search would take 5,000,000,000 steps.
  expect(performance.now() - start).toBeLessThan(5000);
  expect(numbers.take(5n)).toBe(100_005n);
});
