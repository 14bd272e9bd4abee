/** JSON whose numbers keep their text. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import {
  isJsonInteger,
  isJsonNumber,
  nearest,
  parseLossless,
  textOfNumber,
  tryLossless,
} from "../../../src/lib/lossless-json.ts";
import { jsonText, numberText, plainText } from "./any-json.ts";

function again(text: string): string {
  return JSON.stringify(parseLossless(text));
}

describe("parseLossless()", () => {
  test("keeps any JSON text as it is, digit by digit", ({ expect }) => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(again(text)).toBe(plainText(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("makes the same values as JSON.parse, but for the numbers that it keeps", ({ expect }) => {
    const plain = (value: unknown): unknown => {
      if (isJsonNumber(value)) return nearest(value);
      if (Array.isArray(value)) return value.map(plain);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
    };
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(JSON.stringify(plain(parseLossless(text)))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  test("takes a text, or a text with one character changed, if JSON.parse does", ({ expect }) => {
    const change = fc.tuple(fc.nat(), fc.stringMatching(/^[0-9.eE+,:[\]{}"\\ t-]$/));
    fc.assert(
      fc.property(jsonText, change, (text, [at, char]) => {
        const place = at % (text.length + 1);
        const changed = text.slice(0, place) + char + text.slice(place + (at % 2));
        let isJson = true;
        try {
          JSON.parse(changed);
        } catch {
          isJson = false;
        }
        expect(tryLossless(changed) !== undefined).toBe(isJson);
      }),
      { numRuns: 2000 },
    );
  });

  test.for([
    ...["{1.0:2}", "01", "-01", "-", "1.", ".5", "+1.0", "1e", "1.0.0", "1e400e1", "--1", "1-2"],
    ...["[1.0", "1.0]", '1.0"a"', "1.0 1.0", "1.0[0]", "[1e400,]", "-Infinity", "1.0true"],
  ])("refuses %s", (text, { expect }) => {
    expect(() => parseLossless(text)).toThrow(SyntaxError);
  });

  test("has the last of members with one key, and integers as keys first", ({ expect }) => {
    expect(again('{"a":1.0,"b":2,"a":1e400}')).toBe('{"a":1e400,"b":2}');
    expect(again('{"b":1.0,"2":2,"1":1}')).toBe('{"1":1,"2":2,"b":1.0}');
  });

  test("has `__proto__` as a key, and changes no prototype", ({ expect }) => {
    const value = parseLossless('{"__proto__":{"polluted":1.0},"b":-0}');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":1.0},"b":-0}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test("writes half characters as escapes", ({ expect }) => {
    const half = String.fromCharCode(0xd83d);
    expect(again('["\\ud83d",1.0,"\\ude80\\ud83d"]')).toBe('["\\ud83d",1.0,"\\ude80\\ud83d"]');
    expect(again(`["${half}"]`)).toBe('["\\ud83d"]');
  });

  test("nests as deep as an upstream may", ({ expect }) => {
    const text = `${"[".repeat(1000)}1.0${"]".repeat(1000)}`;
    expect(again(text)).toBe(text);
  });

  test("makes numbers that nothing but JSON takes for objects", ({ expect }) => {
    const value = parseLossless("1e400");
    expect([isJsonNumber(value), Array.isArray(value)]).toEqual([true, false]);
    expect(isJsonNumber(parseLossless('{"rawJSON":"1.0"}'))).toBe(false);
  });
});

describe("a number of JSON", () => {
  test("has its text, and the number that is nearest", ({ expect }) => {
    fc.assert(
      fc.property(numberText, (text) => {
        const number = parseLossless(text);
        if (!isJsonNumber(number)) throw new Error(`${text} is no number`);
        expect(textOfNumber(number)).toBe(text);
        expect(nearest(number)).toBe(Number(text));
      }),
    );
  });

  test.for(["0", "-0", "1.0", "1e400", "12345678901234567890", "150e-1", "0e-5", "1.25e2"])(
    "%s is an integer",
    (text, { expect }) => {
      expect(isJsonInteger(parseLossless(text))).toBe(true);
    },
  );

  test.for([
    "1.5",
    "1.50",
    "15e-1",
    "1e-400",
    "12345678901234567890.5",
    '"1"',
    "null",
    "[1]",
    "{}",
  ])("%s is none", (text, { expect }) => {
    expect(isJsonInteger(parseLossless(text))).toBe(false);
  });
});
