/** The sentinel encoding of mirrored headers (2026-07-28, Streamable HTTP, value encoding). */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { decodeHeaderValue, encodeHeaderValue } from "../../../src/protocol/header-value.ts";

describe("both ways", () => {
  test.for([
    { name: "a plain word", value: "add", wire: "add" },
    { name: "inner spaces and tabs", value: "a b\tc", wire: "a b\tc" },
    { name: "every visible mark", value: "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\", wire: undefined },
    { name: "the empty string", value: "", wire: "=?base64??=" },
    { name: "a leading space", value: " a", wire: "=?base64?IGE=?=" },
    { name: "a trailing tab", value: "a\t", wire: "=?base64?YQk=?=" },
    { name: "a lone space", value: " ", wire: "=?base64?IA==?=" },
    { name: "a line break", value: "a\r\nX: y", wire: "=?base64?YQ0KWDogeQ==?=" },
    { name: "NUL", value: "a\0b", wire: "=?base64?YQBi?=" },
    { name: "DEL", value: "a\x7fb", wire: "=?base64?YX9i?=" },
    { name: "Latin-1", value: "é", wire: "=?base64?w6k=?=" },
    { name: "beyond the BMP", value: "😀", wire: "=?base64?8J+YgA==?=" },
    { name: "a byte order mark", value: "\ufeffa", wire: "=?base64?77u/YQ==?=" },
    {
      name: "a sentinel itself",
      value: "=?base64?YQ==?=",
      wire: "=?base64?PT9iYXNlNjQ/WVE9PT89?=",
    },
    { name: "an empty sentinel itself", value: "=?base64??=", wire: "=?base64?PT9iYXNlNjQ/Pz0=?=" },
    { name: "a start alone", value: "=?base64?YQ==", wire: "=?base64?YQ==" },
    { name: "an end alone", value: "YQ==?=", wire: "YQ==?=" },
    { name: "markers that overlap", value: "=?base64?=", wire: "=?base64?=" },
    { name: "markers in upper case", value: "=?BASE64?YQ==?=", wire: "=?BASE64?YQ==?=" },
    { name: "the markers of mail", value: "=?UTF-8?B?YQ==?=", wire: "=?UTF-8?B?YQ==?=" },
  ])("$name", ({ value, wire = value }, { expect }) => {
    expect(encodeHeaderValue(value)).toBe(wire);
    expect(decodeHeaderValue(wire)).toBe(value);
  });
});

describe("decodeHeaderValue()", () => {
  test.for([
    { name: "trims spaces and tabs", raw: " \t add\t ", value: "add" },
    { name: "trims around a sentinel", raw: "  =?base64?SGVsbG8=?= ", value: "Hello" },
    { name: "trims nothing within a sentinel", raw: "=?base64?IGEg?=", value: " a " },
    {
      name: "takes an unterminated sentinel as it is",
      raw: "=?base64?SGVsbG8=",
      value: "=?base64?SGVsbG8=",
    },
    {
      name: "takes a mixed-case marker as it is",
      raw: "=?Base64?SGVsbG8=?=",
      value: "=?Base64?SGVsbG8=?=",
    },
    {
      name: "takes text after the end as it is",
      raw: "=?base64?YQ==?= b",
      value: "=?base64?YQ==?= b",
    },
    { name: "is left with nothing", raw: "  ", value: "" },
    { name: "refuses missing padding", raw: "=?base64?SGVsbG8?=", value: undefined },
    { name: "refuses too much padding", raw: "=?base64?SGVsbG8==?=", value: undefined },
    { name: "refuses padding in the middle", raw: "=?base64?SGV=bG8=?=", value: undefined },
    { name: "refuses padding alone", raw: "=?base64?====?=", value: undefined },
    { name: "refuses another alphabet", raw: "=?base64?SGVs!!!bG8=?=", value: undefined },
    { name: "refuses the alphabet of URLs", raw: "=?base64?-_-_?=", value: undefined },
    { name: "refuses a space within", raw: "=?base64?SGVs bG8=?=", value: undefined },
    { name: "refuses what is not UTF-8", raw: "=?base64?/w==?=", value: undefined },
    { name: "refuses half a character", raw: "=?base64?w6nD?=", value: undefined },
  ])("$name", ({ raw, value }, { expect }) => {
    expect(decodeHeaderValue(raw)).toBe(value);
  });

  test("is linear in the length of a hostile header", ({ expect }) => {
    // 100,000 spaces take a backtracking trim seconds, and a linear one well under 100 ms.
    const hostile = `a${" ".repeat(100_000)}a`;
    const start = performance.now();
    expect(decodeHeaderValue(hostile)).toBe(hostile);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("any string", () => {
  const wellFormed = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("=", "?", "base64", "YQ==", " ", "\t", "a", "\n", "é") }),
  );

  test("comes through a header as it was", ({ expect }) => {
    fc.assert(
      fc.property(wellFormed, (value) => {
        const headers = new Headers({ "Mcp-Name": encodeHeaderValue(value) });
        expect(decodeHeaderValue(headers.get("Mcp-Name") ?? "")).toBe(value);
      }),
      { numRuns: 500 },
    );
  });

  test("is sent in visible ASCII that no hop may trim", ({ expect }) => {
    fc.assert(
      fc.property(wellFormed, (value) => {
        expect(encodeHeaderValue(value)).toMatch(/^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/);
      }),
    );
  });

  test("is decoded without throwing", ({ expect }) => {
    fc.assert(
      fc.property(fc.string(), (inner) => {
        expect(() => decodeHeaderValue(inner)).not.toThrow();
        expect(() => decodeHeaderValue(`=?base64?${inner}?=`)).not.toThrow();
      }),
    );
  });
});
