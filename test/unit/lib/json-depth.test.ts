/** The depth of a JSON text, found without building it. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { jsonDepth, jsonShape } from "../../../src/lib/json-depth.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("jsonDepth()", () => {
  test.for([
    { text: "", depth: 0 },
    { text: "5", depth: 0 },
    { text: '"[{"', depth: 0 },
    { text: "[]", depth: 1 },
    { text: "{}", depth: 1 },
    { text: '[{"a":[1]},[2]]', depth: 3 },
    { text: "[[],[],[]]", depth: 2 },
    { text: '["\\"[[["]', depth: 1 },
    { text: '["\\\\",[]]', depth: 2 },
    { text: '{"[":"]","a":{}}', depth: 2 },
    { text: '["\\u005b"]', depth: 1 },
  ])("of $text is $depth", ({ text, depth }, { expect }) => {
    expect(jsonDepth(text, 100)).toBe(depth);
  });

  test("is that of the value, for any JSON", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2), (value, indent) => {
        expect(jsonDepth(JSON.stringify(value, null, indent), 100)).toBe(depthOf(value));
      }),
    );
  });

  test("stops counting just beyond the limit", ({ expect }) => {
    const hostile = "[".repeat(1_000_000);
    expect(jsonDepth(hostile, 128)).toBe(129);
    expect(jsonDepth("[".repeat(128) + "]".repeat(128), 128)).toBe(128);
  });

  test("accepts text that is no JSON", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("[", "]", "{", "}", '"', "\\", "a") }),
        (text) => {
          expect(jsonDepth(text, 10)).toBeLessThanOrEqual(11);
        },
      ),
    );
  });
});

function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + countOf(each), 1);
}

describe("jsonShape()", () => {
  test("counts all values of any JSON, and empty lists twice at most", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const { values } = jsonShape(JSON.stringify(value), { depth: 100, values: Infinity });
        expect(values).toBeGreaterThanOrEqual(countOf(value));
        expect(values).toBeLessThanOrEqual(2 * countOf(value));
      }),
    );
  });

  test("counts no commas in texts, and stops just beyond the limit", ({ expect }) => {
    expect(jsonShape('[",,,","\\",,"]', { depth: 9, values: 9 })).toEqual({ depth: 1, values: 3 });
    expect(jsonShape(`[${"{},".repeat(1e6)}`, { depth: 9, values: 9 }).values).toBe(10);
  });
});
