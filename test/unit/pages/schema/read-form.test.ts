/** A schema as a form, and the form as values: what was typed is what is sent. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { parseLossless } from "../../../../src/lib/lossless-json.ts";
import {
  controlName,
  type Field,
  formFields,
  typedFrom,
} from "../../../../src/pages/schema/form-fields.ts";
import { readForm } from "../../../../src/pages/schema/read-form.ts";

const object = (properties: unknown, more = {}) => ({ type: "object", properties, ...more });
const labels = (schema: unknown) =>
  formFields(object({ x: schema }))[0]?.options.map(({ label }) => label);
const kinds = (schema: unknown) => formFields(schema).map(({ name, kind }) => [name, kind]);

function read(schema: unknown, typed: Record<string, string | string[]>) {
  const form = new URLSearchParams();
  for (const [name, texts] of Object.entries(typed)) {
    for (const text of [texts].flat()) form.append(`a:${name}`, text);
  }
  const reading = readForm(form, formFields(schema), "a");
  if (reading.kind === "values") return reading.values;
  return new Map(Array.from(reading.errors, ([{ name }, sentence]) => [name, sentence]));
}

describe("formFields()", () => {
  test("has a field of its own for each type", ({ expect }) => {
    const schema = object({
      ...{ a: { type: "string" }, b: { type: "string", format: "email" }, c: { type: "number" } },
      ...{ d: { type: "integer" }, e: { type: "boolean" }, f: { enum: ["x", 1, null] } },
      ...{ g: { oneOf: [{ const: "x", title: "X" }] }, h: { type: "object" }, i: {} },
      j: { type: "array", items: { anyOf: [{ const: 1 }, { const: 2 }] } },
      k: { type: "array", items: { type: "string" } },
      l: { anyOf: [{ type: "string", maxLength: 5 }, { type: "null" }] },
      m: { oneOf: [{ const: "x" }, { type: "string" }] },
    });
    expect(kinds(schema)).toEqual([
      ...[
        ["a", "text"],
        ["b", "line"],
        ["c", "number"],
        ["d", "integer"],
        ["e", "choice"],
      ],
      ...[
        ["f", "choice"],
        ["g", "choice"],
        ["h", "json"],
        ["i", "json"],
        ["j", "choices"],
      ],
      ...[
        ["k", "json"],
        ["l", "line"],
        ["m", "json"],
      ],
    ]);
  });

  test("takes an object as JSON when its members are not known, or too many", ({ expect }) => {
    const many = Object.fromEntries(Array.from({ length: 61 }, (_, n) => [`p${n}`, {}]));
    for (const schema of [
      undefined,
      {},
      { type: "object" },
      object({}, { additionalProperties: {} }),
      object(many),
    ]) {
      expect(kinds(schema)).toEqual([[undefined, "json"]]);
    }
    expect(kinds(object({}))).toEqual([]);
    expect(kinds({ type: "object", additionalProperties: false })).toEqual([]);
  });

  test("has the texts of every spelling of an enumeration", ({ expect }) => {
    expect(labels({ enum: ["a", 2] })).toEqual(["a", "2"]);
    expect(labels({ enum: ["a", "b"], enumNames: ["A"] })).toEqual(["A", "b"]);
    expect(labels({ oneOf: [{ const: "a", title: "A" }, { const: "b" }] })).toEqual(["A", "b"]);
  });
});

describe("readForm()", () => {
  test("says what is wrong with each field", ({ expect }) => {
    const schema = object(
      {
        ...{ n: { type: "number", minimum: 2, maximum: 3 }, i: { type: "integer" } },
        ...{ t: { type: "string", maxLength: 2 }, c: { enum: ["x"] }, o: { type: "object" } },
        ...{ l: { type: "array" }, m: { type: "array", items: { enum: [1, 2] }, minItems: 2 } },
        r: { type: "string" },
      },
      { required: ["r"] },
    );
    const typed = { n: "1", i: "1.5", t: "äöü", c: '"y"', o: "[]", l: "{", m: ["1"] };
    expect(read(schema, typed)).toEqual(
      new Map([
        ["n", "This has to be at least 2."],
        ["i", "This is not a whole number."],
        ["t", "This has to be at most 2 characters."],
        ["c", "Choose one of these."],
        ["o", "This is not an object, as {…} is."],
        ["l", "This is not JSON."],
        ["m", "This has to be at least 2 of them."],
        ["r", "This is needed."],
      ]),
    );
    expect(read(object({ n: { type: "number" } }), { n: "0x10" })).toEqual(
      new Map([["n", "This is not a number."]]),
    );
  });

  test("takes no value that nests deeper than any door does", ({ expect }) => {
    const deep = `${"[".repeat(40)}${"]".repeat(40)}`;
    expect(read(object({ x: {} }), { x: deep })).toEqual(
      new Map([["x", "This nests deeper than 32 levels."]]),
    );
  });

  test("keeps the digits of numbers, and members of any name", ({ expect }) => {
    const schema = parseLossless(
      '{"properties":{"__proto__":{"type":"number"},"a b\\u200f":{"type":"integer"}}}',
    );
    const form = new URLSearchParams(
      formFields(schema).map((field): [string, string] => [controlName(field, "a"), "1.0"]),
    );
    const reading = readForm(form, formFields(schema), "a");
    const values = reading.kind === "values" ? reading.values : {};
    expect(JSON.stringify(values)).toBe('{"__proto__":1.0,"a b\u200f":1.0}');
  });

  test("gives back what the form was filled in with", ({ expect }) => {
    // A browser sends line breaks as two characters, and an empty text like none.
    const text = fc.string({ unit: "grapheme", minLength: 1 }).filter((one) => !one.includes("\r"));
    const values = fc.record(
      {
        ...{ t: text, n: fc.double({ noNaN: true, noDefaultInfinity: true }), i: fc.integer() },
        ...{ b: fc.boolean(), c: fc.constantFrom("x", "y\u202e", 3, null) },
        ...{
          m: fc.subarray(["p", "q", { r: 1 }], { minLength: 1 }),
          o: fc.dictionary(text, fc.jsonValue({ maxDepth: 3 })),
        },
        ...{ l: fc.array(fc.jsonValue({ maxDepth: 3 })), "odd name\u202e\n": text },
      },
      { requiredKeys: [] },
    );
    const schema = object({
      ...{ t: { type: "string" }, n: { type: "number" }, i: { type: "integer" } },
      ...{ b: { type: "boolean" }, c: { enum: ["x", "y\u202e", 3, null] }, o: { type: "object" } },
      ...{ m: { type: "array", items: { enum: ["p", "q", { r: 1 }] } }, l: { type: "array" } },
      "odd name\u202e\n": { type: "string" },
    });
    const fields = formFields(schema);
    fc.assert(
      fc.property(values, (given) => {
        const typed = typedFrom(given);
        const form = new URLSearchParams(
          fields.flatMap((field: Field) =>
            typed(field, "a").map((one): [string, string] => [
              controlName(field, "a"),
              one.replaceAll("\n", "\r\n"),
            ]),
          ),
        );
        const reading = readForm(new URLSearchParams(form.toString()), fields, "a");
        if (reading.kind === "errors") throw new Error([...reading.errors.values()].join());
        expect(JSON.parse(JSON.stringify(reading.values))).toEqual(
          JSON.parse(JSON.stringify(given)),
        );
      }),
    );
  });
});
