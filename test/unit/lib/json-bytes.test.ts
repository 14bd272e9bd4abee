/** The length of a value as JSON: what `JSON.stringify` would make, to the byte. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { parseLossless } from "../../../src/lib/lossless-json.ts";
import { jsonBytes } from "../../../src/lib/json-bytes.ts";

function written(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).byteLength;
}

const CASES: readonly unknown[] = [
  ...["", "plain", 'quote " backslash \\ slash /', "\b\t\n\f\r", "\u0000\u001f\u007f"],
  ...["é", "€", "🚀", "a🚀b", "\ud83d", "\ude80", "\ud83dx", "\ude80\ud83d", "\u2028"],
  ...[0, -0, 1.5, -1e21, 1e-7, Number.MAX_SAFE_INTEGER, Number.NaN, Infinity],
  ...[true, false, null, [], {}, [[]], [null, 1], { a: undefined, b: 1, "🚀\n": [] }],
];

describe("jsonBytes()", () => {
  // In no title and no message: some of them are no Unicode, which runners cannot pass on.
  test("takes every kind of value and of character as JSON does", ({ expect }) => {
    const wrong = CASES.flatMap((value, n) => (jsonBytes(value) === written(value) ? [] : [n]));
    expect(wrong).toEqual([]);
  });

  test("is what JSON takes, of any value", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        expect(jsonBytes(value)).toBe(written(value));
      }),
    );
  });

  test("takes half characters as JSON does", ({ expect }) => {
    const units = fc.array(fc.integer({ min: 0xd700, max: 0xe100 }), { maxLength: 8 });
    fc.assert(
      fc.property(units, (codes) => {
        const text = String.fromCharCode(...codes);
        expect(jsonBytes(text)).toBe(written(text));
      }),
    );
  });

  test("nests as deep as an upstream may", ({ expect }) => {
    const deep: unknown = JSON.parse(`${"[".repeat(1000)}${"]".repeat(1000)}`);
    expect(jsonBytes(deep)).toBe(2000);
  });

  test("takes numbers with their text as JSON does", ({ expect }) => {
    const value = parseLossless('{"a":[1.0,1e400],"b":12345678901234567890}');
    expect(jsonBytes(value)).toBe(written(value));
  });
});
