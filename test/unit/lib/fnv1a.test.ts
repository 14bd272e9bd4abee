/** The hash of names: its published values, which names that are given out depend on. */

import * as fc from "fast-check";
import { test } from "vitest";

import { fnv1a64 } from "../../../src/lib/fnv1a.ts";

test.for([
  ["", 0xcbf29ce484222325n],
  ["a", 0xaf63dc4c8601ec8cn],
  ["foobar", 0x85944171f73967e8n],
] as const)("%j, as published", ([text, hash], { expect }) => {
  expect(fnv1a64(text)).toBe(hash);
});

test("it is the definition, for any code units", ({ expect }) => {
  const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 });
  fc.assert(
    fc.property(units, (units) => {
      let hash = 0xcbf29ce484222325n;
      for (const unit of units) hash = ((hash ^ BigInt(unit)) * 0x100000001b3n) % 2n ** 64n;
      expect(fnv1a64(String.fromCharCode(...units))).toBe(hash);
    }),
  );
});
