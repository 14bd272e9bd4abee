/** The depth and size of a JSON text, and its numbers that JavaScript cannot hold, found without building it. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { scanJson } from "../../../src/lib/scan-json.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("the depth", () => {
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
    expect(scanJson(text, { depth: 100 }).depth).toBe(depth);
  });

  test("is that of the value, for any JSON", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2), (value, indent) => {
        expect(scanJson(JSON.stringify(value, null, indent), { depth: 100 }).depth).toBe(
          depthOf(value),
        );
      }),
    );
  });

  test("stops counting just beyond the limit", ({ expect }) => {
    const hostile = "[".repeat(1_000_000);
    expect(scanJson(hostile, { depth: 128 }).depth).toBe(129);
    expect(scanJson("[".repeat(128) + "]".repeat(128), { depth: 128 }).depth).toBe(128);
  });

  test("accepts text that is no JSON", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("[", "]", "{", "}", '"', "\\", "a") }),
        (text) => {
          expect(scanJson(text, { depth: 10 }).depth).toBeLessThanOrEqual(11);
        },
      ),
    );
  });
});

function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + countOf(each), 1);
}

describe("the number of values", () => {
  test("counts all values of any JSON, and empty lists twice at most", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const { values } = scanJson(JSON.stringify(value), { depth: 100, values: Infinity });
        expect(values).toBeGreaterThanOrEqual(countOf(value));
        expect(values).toBeLessThanOrEqual(2 * countOf(value));
      }),
    );
  });

  test("counts no commas in texts, and stops just beyond the limit", ({ expect }) => {
    expect(scanJson('[",,,","\\",,"]', { depth: 9, values: 9 })).toMatchObject({
      depth: 1,
      values: 3,
    });
    expect(scanJson(`[${"{},".repeat(1e6)}`, { depth: 9, values: 9 }).values).toBe(10);
  });
});

function found(text: string): string[] {
  return scanJson(text).inexact.map(({ start, end }) => text.slice(start, end));
}

describe("the numbers that JavaScript cannot hold as they are written", () => {
  test.for([
    { text: "12345678901234567890", numbers: ["12345678901234567890"] },
    { text: '{"a":[1.0,1,-0,0]}', numbers: ["1.0", "-0"] },
    { text: "[1e400,1E5,1e21,1e+21]", numbers: ["1e400", "1E5", "1e21"] },
    { text: "[9007199254740993,9007199254740992,999999999999999]", numbers: ["9007199254740993"] },
    { text: "[0.1,-0.5,0.10,0.0000001,1e-7]", numbers: ["0.10", "0.0000001"] },
    { text: '["1.0",{"1e400":"-0"}]', numbers: [] },
    { text: '["\\\\",1.0,"\\"1.0"]', numbers: ["1.0"] },
    { text: '["\\\\\\"",1.0]', numbers: ["1.0"] },
    { text: '"1.0', numbers: [] },
  ])("in $text are $numbers", ({ text, numbers }, { expect }) => {
    expect(found(text)).toEqual(numbers);
  });

  test("are none that JSON.stringify has written", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(found(JSON.stringify(value))).toEqual([]);
      }),
    );
  });
});
