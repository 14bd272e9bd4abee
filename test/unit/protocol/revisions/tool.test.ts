/** Listed tools, for clients of other revisions and the other era. */

import { describe, test } from "vitest";

import { LEGACY_REVISIONS } from "../../../../src/protocol/revisions.ts";
import { toLegacyTool, toModernTool } from "../../../../src/protocol/revisions/tool.ts";

const inputSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { a: { $ref: "#/$defs/a" }, b: { type: "string", "x-mcp-header": "B" } },
  $defs: { a: { type: "integer" } },
  allOf: [{ if: { required: ["a"] }, else: { required: ["b"] } }],
  additionalProperties: false,
};
const outputSchema = { type: "object", properties: { n: { type: "number" } } };
const _meta = { ui: { resourceUri: "ui://x" }, "com.example/own": 1 };
const tool = {
  ...{ name: "group/a", title: "A", description: "Does it", icons: [{ src: "https://x.test/i" }] },
  ...{ annotations: { readOnlyHint: true }, inputSchema, outputSchema, _meta },
};
const execution = { taskSupport: "optional" };

describe.for(LEGACY_REVISIONS)("to %s", (revision) => {
  const modern = { revision, era: "modern", hasTasks: false } as const;
  const legacy = { revision, era: "legacy", hasTasks: false } as const;

  test("all valid members stay, keywords and names included", ({ expect }) => {
    expect(toLegacyTool(tool, modern)).toEqual(tool);
    expect(toLegacyTool(tool, legacy)).toEqual(tool);
    expect(Object.keys(toLegacyTool(tool, modern))).toEqual(Object.keys(tool));
  });

  test("the task support of a tool stays if the revision has tasks", ({ expect }) => {
    expect(toLegacyTool({ ...tool, execution }, legacy)).toEqual(tool);
    const withTasks = { ...legacy, hasTasks: true };
    expect(toLegacyTool({ ...tool, execution }, withTasks)).toEqual({ ...tool, execution });
  });

  test("the schemas of properties are objects", ({ expect }) => {
    const schema = { type: "object", properties: { any: true, none: false, a: { const: true } } };
    const plain = {
      type: "object",
      properties: { any: {}, none: { not: {} }, a: { const: true } },
    };
    for (const reader of [modern, legacy]) {
      const translated = toLegacyTool(
        { ...tool, inputSchema: schema, outputSchema: schema },
        reader,
      );
      expect(translated).toEqual({ ...tool, inputSchema: plain, outputSchema: plain });
    }
  });

  test.for([
    { schema: { type: "array" } },
    { schema: { type: ["array", "null"] } },
    { schema: { type: "string" } },
  ])("the output $schema is wrapped for both eras", ({ schema }, { expect }) => {
    const wrapped = { type: "object", properties: { result: schema }, required: ["result"] };
    for (const reader of [modern, legacy]) {
      expect(toLegacyTool({ outputSchema: schema }, reader)).toEqual({ outputSchema: wrapped });
    }
  });

  test.for([
    { schema: { anyOf: [outputSchema] }, narrowed: { anyOf: [outputSchema], type: "object" } },
    { schema: { properties: { a: true } }, narrowed: { properties: { a: {} }, type: "object" } },
    { schema: { type: ["null", "object"] }, narrowed: { type: "object" } },
    { schema: {}, narrowed: { type: "object" } },
    { schema: true, narrowed: { type: "object" } },
  ])(
    "the open output $schema is an object's at a legacy server alone",
    ({ schema, narrowed }, { expect }) => {
      expect(toLegacyTool({ outputSchema: schema }, legacy)).toEqual({ outputSchema: narrowed });
      expect(toLegacyTool({ outputSchema: schema }, modern)).toMatchObject({
        outputSchema: { type: "object", required: ["result"] },
      });
    },
  );
});

describe("to 2026-07-28", () => {
  test("all members stay except the task support", ({ expect }) => {
    expect(toModernTool({ ...tool, execution })).toEqual(tool);
    const open = { ...tool, outputSchema: { type: "array" }, inputSchema: true };
    expect(toModernTool(open)).toEqual(open);
  });

  test("annotations that would cost the tool are taken off", ({ expect }) => {
    const properties = { a: { type: "object", "x-mcp-header": "A" }, b: { type: "string" } };
    const unlawful = { ...inputSchema, properties };
    const lawful = { ...inputSchema, properties: { ...properties, a: { type: "object" } } };
    expect(toModernTool({ ...tool, inputSchema: unlawful })).toEqual({
      ...tool,
      inputSchema: lawful,
    });
  });
});
