/** Wrapped output schemas: every reference leads to the schema that it led to before. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { asObject, isObjectSchema, wrapSchema } from "../../../../src/protocol/revisions/output.ts";
import { localReferences, target } from "../../catalog/read/schema-references.ts";

const resultOf = (wrapped: JsonObject): unknown =>
  (wrapped["properties"] as JsonObject | undefined)?.["result"];

describe("isObjectSchema()", () => {
  test.for([
    { schema: { type: "object" }, expected: true },
    { schema: { type: ["object"] }, expected: false },
    { schema: { type: ["object", "null"] }, expected: false },
    { schema: { type: "array" }, expected: false },
    { schema: { properties: {} }, expected: false },
    { schema: { anyOf: [{ type: "object" }] }, expected: false },
    { schema: true, expected: false },
    { schema: null, expected: false },
    { schema: [], expected: false },
  ])("$schema: $expected", ({ schema, expected }, { expect }) => {
    expect(isObjectSchema(schema)).toBe(expected);
  });
});

describe("wrapSchema()", () => {
  const moved = [
    { name: "the root", before: "#", after: "#/properties/result" },
    { name: "the root, by nothing", before: "", after: "#/properties/result" },
    { name: "a place", before: "#/$defs/a~1b/x", after: "#/properties/result/$defs/a~1b/x" },
    { name: "an anchor", before: "#item", after: "#item" },
    { name: "another document", before: "other.json#/a", after: "other.json#/a" },
    { name: "an address", before: "https://x.test/s#", after: "https://x.test/s#" },
    { name: "no reference", before: 7, after: 7 },
  ];
  for (const keyword of ["$ref", "$dynamicRef"]) {
    test.for(moved)(`${keyword} to $name`, ({ before, after }, { expect }) => {
      expect(wrapSchema({ type: "array", items: { [keyword]: before } })).toEqual({
        type: "object",
        properties: { result: { type: "array", items: { [keyword]: after } } },
        required: ["result"],
      });
    });
  }

  const reference = { $ref: "#" };
  const there = { $ref: "#/properties/result" };
  test.for([
    { name: "a list of schemas", before: { anyOf: [reference] }, after: { anyOf: [there] } },
    { name: "a schema", before: { not: reference }, after: { not: there } },
    ...["properties", "patternProperties", "$defs", "definitions"].map((keyword) => ({
      name: `a name of ${keyword} that looks like a keyword`,
      before: { [keyword]: { const: reference, $ref: reference, $id: reference } },
      after: { [keyword]: { const: there, $ref: there, $id: there } },
    })),
    ...["dependentSchemas", "dependencies"].map((keyword) => ({
      name: keyword,
      before: { [keyword]: { default: reference } },
      after: { [keyword]: { default: there } },
    })),
    {
      name: "dependencies on names",
      before: { dependencies: { a: ["b"] } },
      after: { dependencies: { a: ["b"] } },
    },
    {
      name: "an unknown keyword",
      before: { "x-more": { deep: [reference] } },
      after: { "x-more": { deep: [there] } },
    },
  ])("references move in $name", ({ before, after }, { expect }) => {
    expect(resultOf(wrapSchema(before))).toEqual(after);
  });

  test.for(["const", "enum", "default", "examples"])("%s is data", (keyword, { expect }) => {
    const schema = { items: { [keyword]: [reference] } };
    expect(resultOf(wrapSchema(schema))).toEqual(schema);
  });

  test("a schema with an address of its own is where its references begin", ({ expect }) => {
    const own = { $id: "https://x.test/own", items: reference };
    expect(resultOf(wrapSchema(own))).toEqual(own);
    expect(resultOf(wrapSchema({ items: own, not: reference }))).toEqual({
      items: own,
      not: there,
    });
  });

  test("an address that is a fragment is an anchor", ({ expect }) => {
    const anchored = { $id: "#here", items: reference };
    expect(resultOf(wrapSchema(anchored))).toEqual({ $id: "#here", items: there });
  });

  test("the dialect is the whole document's", ({ expect }) => {
    const $schema = "http://json-schema.org/draft-07/schema#";
    const wrapped = wrapSchema({ $schema, type: "string" });
    expect(wrapped).toMatchObject({ $schema, type: "object" });
    expect(resultOf(wrapped)).toEqual({ type: "string" });
    expect(wrapSchema({ $schema: 7, type: "string" })).not.toHaveProperty("$schema");
  });

  test.for([
    { before: { items: { $recursiveRef: "#" } }, after: { items: there } },
    {
      before: { items: { $recursiveRef: "#", $ref: "#/a", allOf: [{ minItems: 1 }] } },
      after: {
        items: { $ref: "#/properties/result/a", allOf: [{ minItems: 1 }, there] },
      },
    },
    {
      before: { items: { $recursiveRef: "#", $ref: "#/a" } },
      after: { items: { $ref: "#/properties/result/a", allOf: [there] } },
    },
  ])("2019-09: the recursive reference of $before moves too", ({ before, after }, { expect }) => {
    for (const $schema of [
      "https://json-schema.org/draft/2019-09/schema",
      "http://json-schema.org/draft/2019-09/schema#",
    ]) {
      expect(resultOf(wrapSchema({ ...before, $schema }))).toEqual(after);
    }
  });

  test("any other dialect has no recursive reference", ({ expect }) => {
    const schema = { items: { $recursiveRef: "#" } };
    expect(resultOf(wrapSchema(schema))).toEqual(schema);
  });

  test.for([
    { schema: true, plain: {} },
    { schema: false, plain: { not: {} } },
    { schema: null, plain: {} },
    { schema: "array", plain: {} },
    { schema: [], plain: {} },
  ])("$schema is shown as an object", ({ schema, plain }, { expect }) => {
    expect(asObject(schema)).toEqual(plain);
    expect(resultOf(wrapSchema(schema))).toEqual(plain);
  });

  test("references move however deep they are", ({ expect }) => {
    let schema: JsonObject = reference;
    const depth = 900; // what is read off the wire nests a thousand levels at most
    for (let level = 0; level < depth; level++) schema = { not: schema };
    let found: unknown = resultOf(wrapSchema(schema));
    for (let level = 0; level < depth; level++) found = (found as JsonObject)["not"];
    expect(found).toEqual(there);
  });

  test("what was given is not changed", ({ expect }) => {
    const schema = { $schema: "s", $defs: { a: reference }, items: { $ref: "#/$defs/a" } };
    const before = JSON.stringify(schema);
    wrapSchema(schema);
    expect(JSON.stringify(schema)).toBe(before);
  });
});

/** Names of members that collide with keywords, and need escaping in a pointer. */
const name = fc.constantFrom("a", "b/c", "d~e", "$ref", "const", "properties", "$id", "ü %", "");
/** A place that may be there, or not: both have to stay as they are. */
const pointer = fc
  .array(fc.oneof(name, fc.constantFrom("$defs", "items", "anyOf", "0", "1")), { maxLength: 4 })
  .map((path) => path.map(escaped).join(""));

function escaped(token: string): string {
  return `/${encodeURI(token.replaceAll("~", "~0").replaceAll("/", "~1"))}`;
}

const { schema } = fc.letrec<{ schema: JsonObject; members: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    pointer.map((path) => ({ $ref: `#${path}` })),
    fc.record(
      {
        type: fc.constantFrom("array", "string", "object"),
        $id: fc.constantFrom("https://x.test/a", "b.json", "#c"),
        properties: tie("members"),
        $defs: tie("members"),
        items: tie("schema"),
        anyOf: fc.array(tie("schema"), { maxLength: 2 }),
        const: pointer.map((path) => ({ $ref: `#${path}`, items: { $ref: "#" } })),
        $ref: pointer.map((path) => `#${path}`),
      },
      { requiredKeys: [] },
    ),
  ),
  members: fc.dictionary(name, tie("schema"), { maxKeys: 3 }),
}));

const inside = (path: readonly string[]): string[] => ["properties", "result", ...path];

test("every reference of a wrapped schema leads to where it led", ({ expect }) => {
  let moved = 0;
  fc.assert(
    fc.property(schema, (natural) => {
      const wrapped = wrapSchema(natural);
      const before = localReferences(natural);
      const after = localReferences(wrapped);
      expect(after.map(({ at }) => at)).toEqual(before.map(({ at }) => inside(at)));
      for (const [n, reference] of before.entries()) {
        const now = after[n];
        if (now === undefined) throw new Error("there are as many");
        const then = target(natural, reference);
        expect(target(wrapped, now)).toEqual(then === undefined ? undefined : inside(then));
        if (then !== undefined) moved += 1;
      }
    }),
    { numRuns: 500 },
  );
  // Enough of them lead somewhere for this to mean something.
  expect(moved).toBeGreaterThan(100);
});
