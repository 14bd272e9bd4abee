/** `x-mcp-header`: the rules for a schema, and the headers that follow from it. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { parseLossless } from "../../../src/lib/lossless-json.ts";
import type { JsonObject } from "../../../src/protocol/json-rpc.ts";
import {
  checkParamHeaders,
  type ParamBinding,
  paramHeaders,
  readParamBindings,
} from "../../../src/protocol/param-headers.ts";

const region = { type: "string", "x-mcp-header": "Region" };

const holding = { type: "object", properties: { r: region } };
const annotated = (annotation: unknown): object => ({
  properties: { a: { type: "string", "x-mcp-header": annotation } },
});

describe("readParamBindings() takes", () => {
  test.for([
    { name: "no schema", schema: undefined, bindings: [] },
    { name: "a schema that is no object", schema: "string", bindings: [] },
    {
      name: "a schema without annotations",
      schema: { properties: { a: { type: "string" } } },
      bindings: [],
    },
    {
      name: "a property of that name",
      schema: { properties: { "x-mcp-header": { type: "string" } } },
      bindings: [],
    },
    ...["string", "integer", "boolean"].map((type) => ({
      name: `a property of type ${type}`,
      schema: { properties: { a: { type, "x-mcp-header": "A" } } },
      bindings: [{ header: "mcp-param-a", path: ["a"] }],
    })),
    {
      name: "every character of a token",
      schema: { properties: { a: { type: "string", "x-mcp-header": "!#$%&'*+.^_`|~-9zA" } } },
      bindings: [{ header: "mcp-param-!#$%&'*+.^_`|~-9za", path: ["a"] }],
    },
    {
      name: "properties within properties",
      schema: {
        properties: { b: { type: "string" }, a: { type: "object", properties: { "x.y": region } } },
      },
      bindings: [{ header: "mcp-param-region", path: ["a", "x.y"] }],
    },
  ])("$name", ({ schema, bindings }, { expect }) => {
    expect(readParamBindings(schema)).toEqual({ kind: "bindings", bindings });
  });
});

describe("readParamBindings() refuses", () => {
  test.for([
    ...["", "a b", "a:b", "a/b", "a\r\nb", "é", "a\0", "(a)", 5, null, ["A"], true].map((name) => ({
      name: `the token ${JSON.stringify(name)}`,
      schema: annotated(name),
    })),
    ...["object", "array", "number", "null", undefined, ["string", "null"]].map((type) => ({
      name: `a property of type ${JSON.stringify(type)}`,
      schema: { properties: { a: { type, "x-mcp-header": "A" } } },
    })),
    {
      name: "the same name twice, in another case and depth",
      schema: {
        properties: {
          a: { type: "string", "x-mcp-header": "REGION" },
          b: { type: "object", properties: { c: region } },
        },
      },
    },
    // "Only where the property is reachable purely through nested `properties`": anywhere else
    // an annotation breaks the rule, and the tool with it.
    {
      name: "an annotation below items",
      schema: { properties: { a: { type: "array", items: holding } } },
    },
    {
      name: "an annotation of items",
      schema: { properties: { a: { type: "array", items: region } } },
    },
    ...["oneOf", "anyOf", "allOf"].map((keyword) => ({
      name: `an annotation below ${keyword}`,
      schema: { type: "object", [keyword]: [{}, holding] },
    })),
    ...["not", "if", "then", "else"].map((keyword) => ({
      name: `an annotation below ${keyword}`,
      schema: { properties: { a: { type: "object", [keyword]: holding } } },
    })),
    {
      name: "an annotation that only $ref reaches",
      schema: { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: holding } },
    },
  ])("$name", ({ schema }, { expect }) => {
    expect(readParamBindings(schema)).toEqual({
      kind: "invalid",
      problem: expect.stringContaining("x-mcp-header"),
    });
  });
});

test("readParamBindings() survives a schema of any depth", ({ expect }) => {
  let deep: object = { properties: { a: region } };
  for (let depth = 0; depth < 100_000; depth++) deep = { properties: { a: deep } };
  expect(() => readParamBindings(deep)).not.toThrow();
});

const bindings: readonly ParamBinding[] = [{ header: "mcp-param-x", path: ["in", "x"] }];

describe("checkParamHeaders()", () => {
  test.for([
    { name: "a string", argument: "eu", header: "eu", isGood: true },
    { name: "a string in base64", argument: "é", header: "=?base64?w6k=?=", isGood: true },
    { name: "a plain string in base64", argument: "a", header: "=?base64?YQ==?=", isGood: true },
    { name: "an empty string", argument: "", header: "=?base64??=", isGood: true },
    { name: "an empty string, sent empty", argument: "", header: "", isGood: true },
    { name: "a string in another case", argument: "eu", header: "EU", isGood: false },
    { name: "a string of digits, as a number", argument: "42", header: "42.0", isGood: false },
    { name: "bad padding", argument: "Hello", header: "=?base64?SGVsbG8?=", isGood: false },
    { name: "a bad alphabet", argument: "Hello", header: "=?base64?SGVs!!!bG8=?=", isGood: false },
    {
      name: "an unterminated sentinel",
      argument: "=?base64?YQ",
      header: "=?base64?YQ",
      isGood: true,
    },
    { name: "an integer", argument: 42, header: "42", isGood: true },
    { name: "an integer written as a decimal", argument: 42, header: "42.0", isGood: true },
    { name: "a negative integer", argument: -1, header: "-1", isGood: true },
    { name: "a fraction", argument: 0.5, header: "0.5", isGood: true },
    { name: "another integer", argument: 42, header: "43", isGood: false },
    { name: "an integer in hexadecimal", argument: 42, header: "0x2a", isGood: false },
    { name: "a word for a number", argument: 42, header: "forty-two", isGood: false },
    { name: "nothing for 0", argument: 0, header: "", isGood: false },
    { name: "a blank for 0", argument: 0, header: "=?base64?IA==?=", isGood: false },
    { name: "true", argument: true, header: "true", isGood: true },
    { name: "false", argument: false, header: "false", isGood: true },
    { name: "true in another case", argument: true, header: "True", isGood: false },
    { name: "1 for true", argument: true, header: "1", isGood: false },
    { name: "no header", argument: "eu", header: undefined, isGood: false },
    { name: "no header for 0", argument: 0, header: undefined, isGood: false },
    { name: "no header for false", argument: false, header: undefined, isGood: false },
    { name: "no header for an empty string", argument: "", header: undefined, isGood: false },
    { name: "no header for null", argument: null, header: undefined, isGood: true },
    { name: "a header for null", argument: null, header: "null", isGood: false },
    { name: "a header for an absent argument", argument: undefined, header: "eu", isGood: false },
  ])("$name: $isGood", ({ argument, header, isGood }, { expect }) => {
    const headers = new Headers(header === undefined ? {} : { "Mcp-Param-X": header });
    const problem = checkParamHeaders(bindings, headers, { in: { x: argument } });
    if (isGood) expect(problem).toBeUndefined();
    else expect(problem ?? "no problem").toContain("mcp-param-x");
  });

  test("does not find what an object has inherited", ({ expect }) => {
    const args = { in: Object.create({ x: "inherited" }) as object };
    expect(checkParamHeaders(bindings, new Headers(), args)).toBeUndefined();
    expect(paramHeaders(bindings, args)).toEqual([]);
  });

  test("takes arguments of any shape", ({ expect }) => {
    for (const args of [undefined, null, [], "x", { in: null }, { in: ["x"] }]) {
      expect(checkParamHeaders(bindings, new Headers(), args)).toBeUndefined();
    }
  });

  test("leaves headers alone that no binding names", ({ expect }) => {
    const headers = new Headers({ "Mcp-Param-Other": "=?base64?!?=" });
    expect(checkParamHeaders(bindings, headers, {})).toBeUndefined();
  });
});

describe("paramHeaders()", () => {
  test.for([
    { name: "a string", argument: "eu", value: "eu" },
    { name: "a string that must be encoded", argument: " é", value: "=?base64?IMOp?=" },
    { name: "an integer", argument: 42, value: "42" },
    { name: "the greatest integer", argument: Number.MAX_SAFE_INTEGER, value: "9007199254740991" },
    { name: "0", argument: 0, value: "0" },
    { name: "false", argument: false, value: "false" },
    { name: "null", argument: null, value: undefined },
    { name: "absence", argument: undefined, value: undefined },
    { name: "an object", argument: {}, value: undefined },
  ])("computes the header of $name", ({ argument, value }, { expect }) => {
    expect(paramHeaders(bindings, { in: { x: argument } })).toEqual(
      value === undefined ? [] : [["mcp-param-x", value]],
    );
  });

  test("computes what checkParamHeaders() takes, for any arguments", ({ expect }) => {
    const argument = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const two = [
      { header: "mcp-param-a", path: ["a"] },
      { header: "mcp-param-b", path: ["deep", "b"] },
    ];
    fc.assert(
      fc.property(argument, argument, (a, b) => {
        const args = { a, deep: { b } };
        expect(checkParamHeaders(two, new Headers(paramHeaders(two, args)), args)).toBeUndefined();
      }),
    );
  });
});

function argsOf(text: string): JsonObject {
  return parseLossless(`{"in":{"x":${text}}}`) as JsonObject;
}

describe("a number that JavaScript cannot hold", () => {
  test.for(["1187654321098765433", "1.0", "1e400", "-0"])(
    "has %s as its header",
    (text, { expect }) => {
      expect(paramHeaders(bindings, argsOf(text))).toEqual([["mcp-param-x", text]]);
    },
  );

  test.for([
    { argument: "1187654321098765433", header: "1187654321098765433.0", isGood: true },
    { argument: "1187654321098765433", header: "1187654321098765434", isGood: false },
    { argument: "42.0", header: "42", isGood: true },
    { argument: "-0", header: "0", isGood: true },
    { argument: "1e400", header: "1e401", isGood: false },
  ])("$argument agrees with $header: $isGood", ({ argument, header, isGood }, { expect }) => {
    const headers = new Headers({ "Mcp-Param-X": header });
    expect(checkParamHeaders(bindings, headers, argsOf(argument)) === undefined).toBe(isGood);
  });
});
