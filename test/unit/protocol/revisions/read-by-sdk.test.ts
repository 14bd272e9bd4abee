/**
 * The messages for a client of 2025-11-25 are readable for the official SDK of that revision: one
 * thing that it does not know would cost its user the whole list, or the whole result.
 */

import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  EmptyResultSchema,
  GetPromptResultSchema,
  InitializeResultSchema,
  ListToolsResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, test } from "vitest";

import { askLegacyClient } from "../../../../src/protocol/revisions/ask-legacy-client.ts";
import { introducedTo } from "../../../../src/protocol/revisions/introductions.ts";
import { toLegacyResult } from "../../../../src/protocol/revisions/to-legacy-result.ts";

const reader = { revision: "2025-11-25", era: "modern", hasTasks: false } as const;
const stamps = {
  ...{ resultType: "complete", ttlMs: 5, cacheScope: "public" },
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } },
};
const outputs = [
  { type: "array", items: { $ref: "#/$defs/a" }, $defs: { a: {} } },
  { type: ["object", "null"] },
  { anyOf: [{ type: "object" }, { type: "string" }] },
  { type: "object", properties: { any: true, none: false } },
  { $schema: "https://json-schema.org/draft/2020-12/schema", type: "integer" },
  {},
];

describe("the SDK of 2025-11-25 reads", () => {
  test.for(outputs)("a tool with the output %j", (outputSchema, { expect }) => {
    const inputSchema = { type: "object", properties: { any: true, none: false } };
    const tools = [{ name: "a", inputSchema, outputSchema }];
    const translated = toLegacyResult("tools/list", { ...stamps, tools }, reader);
    expect(ListToolsResultSchema.safeParse(translated).error).toBeUndefined();
    // And it does not read the message without our translation.
    const isPlain = JSON.stringify(translated) === JSON.stringify({ tools });
    expect(ListToolsResultSchema.safeParse({ tools }).success).toBe(isPlain);
  });

  test.for([[1], "text", 0, null, false, { n: 1 }])(
    "the structured output %j",
    (structuredContent, { expect }) => {
      const result = { ...stamps, content: [], structuredContent };
      const translated = toLegacyResult("tools/call", result, reader, outputs[0]);
      expect(CallToolResultSchema.safeParse(translated).error).toBeUndefined();
    },
  );

  test("empty results and prompts", ({ expect }) => {
    const empty = toLegacyResult("logging/setLevel", stamps, reader);
    expect(EmptyResultSchema.safeParse(empty).error).toBeUndefined();
    expect(EmptyResultSchema.safeParse({ resultType: "complete" }).success).toBe(false);
    const content = { type: "resource_link", uri: "a:b", name: "a" };
    const prompt = { ...stamps, messages: [{ role: "user", content }] };
    const translated = toLegacyResult("prompts/get", prompt, reader);
    expect(GetPromptResultSchema.safeParse(translated).error).toBeUndefined();
  });

  test("an introduction", ({ expect }) => {
    const discovery = { ...stamps, capabilities: { tools: true, logging: {}, tasks: {} } };
    const result = { protocolVersion: "2025-11-25", ...introducedTo("2025-11-25", discovery, "x") };
    expect(InitializeResultSchema.safeParse(result).error).toBeUndefined();
  });

  const fields = {
    a: { type: "string", oneOf: [{ const: "a", title: "A" }], default: "a" },
    b: { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
    c: { type: "number", default: 1 },
  };
  const form = { message: "?", requestedSchema: { type: "object", properties: fields } };
  const used = { type: "tool_result", toolUseId: "1", content: [], structuredContent: [1] };
  test.for([
    { method: "elicitation/create", params: form },
    { method: "elicitation/create", params: { mode: "url", message: "?", url: "https://x.test/" } },
    {
      method: "sampling/createMessage",
      params: {
        ...{ maxTokens: 9, messages: [{ role: "user", content: [used] }] },
        tools: [{ name: "a", inputSchema: { type: "object" }, outputSchema: outputs[0] }],
      },
    },
  ])("the question $method $params", (call, { expect }) => {
    const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} } };
    const client = { revision: "2025-11-25", capabilities } as const;
    const asked = askLegacyClient(call, client, () => "id");
    const question = asked.kind === "ask" ? asked.call : undefined;
    const schema =
      call.method === "elicitation/create" ? ElicitRequestSchema : CreateMessageRequestSchema;
    expect(schema.safeParse(question).error).toBeUndefined();
  });
});
