/** A schema as people read it, whatever a server has written into it. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { resolved } from "../../../../src/pages/schema/resolve.ts";
import { schemaRows } from "../../../../src/pages/schema/schema-rows.ts";
import { parseLossless } from "../../../../src/lib/lossless-json.ts";

const object = (properties: unknown, more = {}) => ({ type: "object", properties, ...more });

describe("schemaRows()", () => {
  test("has a row for each member, with what it may be", ({ expect }) => {
    const schema = object(
      {
        city: { type: "string", description: "Where", minLength: 2 },
        days: { type: "integer", default: 3, minimum: 1, maximum: 14 },
        unit: { enum: ["C", "F"] },
      },
      { required: ["city"] },
    );
    expect(schemaRows(schema)).toEqual([
      {
        ...{ path: "city", type: "string", isRequired: true, description: "Where" },
        rules: ["at least 2 characters"],
      },
      {
        ...{ path: "days", type: "integer", isRequired: false, description: undefined },
        rules: ["by default 3", "at least 1", "at most 14"],
      },
      {
        ...{ path: "unit", type: "string", isRequired: false, description: undefined },
        rules: ["one of C, F"],
      },
    ]);
  });

  test("follows members, lists and references, and names each by its path", ({ expect }) => {
    const schema = object(
      {
        order: object({ lines: { type: "array", items: { $ref: "#/$defs/line" } } }),
        note: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
        either: { oneOf: [{ type: "string" }, { type: "number" }] },
      },
      { $defs: { line: object({ count: { type: "integer" } }) } },
    );
    expect(schemaRows(schema).map(({ path, type, rules }) => [path, type, rules])).toEqual([
      ["order", "object", []],
      ["order.lines", "list of object", []],
      ["order.lines[].count", "integer", []],
      ["note", "string", []],
      ["either", "string or number", []],
    ]);
  });

  test("ends, however a schema refers to itself", ({ expect }) => {
    const node = object({ next: { $ref: "#/$defs/node" }, self: { $ref: "#/$defs/loop" } });
    const schema = object(
      { first: { $ref: "#/$defs/node" } },
      { $defs: { node, loop: { $ref: "#/$defs/loop" } } },
    );
    const rows = schemaRows(schema);
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.length).toBeLessThanOrEqual(100);
  });

  test("is at most 100 rows", ({ expect }) => {
    const many = Array.from({ length: 500 }, (_, n) => [`p${n}`, { type: "string" }] as const);
    expect(schemaRows(object(Object.fromEntries(many)))).toHaveLength(100);
  });

  test("says one character as one", ({ expect }) => {
    const schema = object({ a: { type: "string", minLength: 1, maxLength: 21 } });
    expect(schemaRows(schema)[0]?.rules).toEqual(["at least 1 character", "at most 21 characters"]);
  });

  test("writes numbers as the server did", ({ expect }) => {
    const schema = parseLossless(
      '{"properties":{"n":{"type":"integer","maximum":12345678901234567890,"default":1.0}}}',
    );
    expect(schemaRows(schema)[0]?.rules).toEqual([
      "by default 1.0",
      "at most 12345678901234567890",
    ]);
  });

  test("takes any JSON for a schema", ({ expect }) => {
    const schemas = fc.letrec((tie) => ({
      schema: fc.oneof(
        fc.jsonValue(),
        fc.record(
          {
            type: fc.oneof(fc.constantFrom("object", "array", "string"), fc.jsonValue()),
            properties: fc.dictionary(fc.string(), tie("schema")),
            items: tie("schema"),
            anyOf: fc.array(tie("schema"), { maxLength: 3 }),
            $ref: fc.constantFrom("#", "#/properties/a", "#/x", "http://elsewhere"),
            enum: fc.array(fc.jsonValue(), { maxLength: 3 }),
          },
          { requiredKeys: [] },
        ),
      ),
    })).schema;
    fc.assert(
      fc.property(schemas, (schema) => {
        for (const { path, type } of schemaRows(schema)) {
          expect(typeof path).toBe("string");
          expect(typeof type).toBe("string");
        }
      }),
    );
  });
});

describe("resolved()", () => {
  test("keeps what stands beside a reference", ({ expect }) => {
    const root = { $defs: { "a/b": { type: "string", title: "Theirs" } } };
    const schema = { $ref: "#/$defs/a~1b", title: "Ours" };
    expect(resolved(schema, root)).toEqual({ type: "string", title: "Ours" });
  });
});
