/** Results of servers of both eras, as legacy clients of each revision are given them. */

import { describe, test } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { LEGACY_REVISIONS, type LegacyRevision } from "../../../../src/protocol/revisions.ts";
import { toLegacyResult } from "../../../../src/protocol/revisions/to-legacy-result.ts";

const reads = (revision: LegacyRevision, era: "legacy" | "modern" = "modern") =>
  ({ revision, era, hasTasks: false }) as const;

const _meta = { "com.example/own": 1, traceparent: "00-a-b-01" };
const stamps = {
  ...{ resultType: "complete", ttlMs: 5, cacheScope: "public" },
  _meta: {
    ..._meta,
    "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" },
    "io.modelcontextprotocol/subscriptionId": 1,
  },
};
const text = { type: "text", text: "t" };
const audio = { type: "audio", data: "aaaa", mimeType: "audio/wav" };
const link = { type: "resource_link", uri: "file:///a", name: "a" };

const types = (content: unknown): unknown[] => (content as JsonObject[]).map(({ type }) => type);

/** A result of every method that a modern server answers, without the stamps of its wire. */
const RESULTS: readonly { method: string; result: JsonObject }[] = [
  { method: "tools/list", result: { tools: [{ name: "a", inputSchema: {} }], nextCursor: "" } },
  { method: "tools/call", result: { content: [text], isError: true } },
  { method: "resources/list", result: { resources: [{ uri: "a:b", name: "a" }] } },
  { method: "resources/templates/list", result: { resourceTemplates: [] } },
  { method: "resources/read", result: { contents: [{ uri: "a:b", text: "t" }] } },
  { method: "prompts/list", result: { prompts: [{ name: "a" }] } },
  { method: "prompts/get", result: { messages: [{ role: "user", content: text }] } },
  { method: "completion/complete", result: { completion: { values: ["a"], total: 1 } } },
  { method: "com.example/own", result: { anything: [1] } },
];

describe.for(LEGACY_REVISIONS)("to %s", (revision) => {
  test.for(RESULTS)(
    "$method loses the stamps of the newer wire",
    ({ method, result }, { expect }) => {
      const translated = toLegacyResult(method, { ...result, ...stamps }, reads(revision));
      expect(translated).toEqual({ ...result, _meta });
      const bare = { ...stamps, _meta: { "io.modelcontextprotocol/serverInfo": { name: "s" } } };
      expect(toLegacyResult(method, { ...result, ...bare }, reads(revision))).toEqual(result);
    },
  );

  test.for(RESULTS)(
    "$method of a legacy server stays as it is",
    ({ method, result }, { expect }) => {
      const full = { ...result, _meta, resultType: 7, ttlMs: {} };
      expect(toLegacyResult(method, full, reads(revision, "legacy"))).toEqual(full);
    },
  );

  test.for(["resources/subscribe", "resources/unsubscribe", "logging/setLevel"])(
    "%s is answered with an empty result",
    (method, { expect }) => {
      expect(toLegacyResult(method, stamps, reads(revision))).toEqual({});
      expect(toLegacyResult(method, { _meta, more: 1 }, reads(revision, "legacy"))).toEqual({});
    },
  );

  test.for(["modern", "legacy"] as const)(
    "content of a tool and of a prompt, of a %s server, is what the client can read",
    (era, { expect }) => {
      const reader = reads(revision, era);
      const known = [
        "text",
        revision >= "2025-03-26" ? "audio" : "resource",
        revision >= "2025-06-18" ? "resource_link" : "text",
      ];
      const content = [text, audio, link];
      for (const method of ["tools/call", "tasks/result"]) {
        expect(types(toLegacyResult(method, { content }, reader)["content"])).toEqual(known);
      }
      const messages = content.map((block) => ({ role: "user", content: block }));
      const prompt = toLegacyResult("prompts/get", { description: "d", messages }, reader);
      expect(prompt).toMatchObject({ description: "d" });
      const translated = prompt["messages"] as { role: string; content: JsonObject }[];
      expect(translated.map(({ role }) => role)).toEqual(["user", "user", "user"]);
      expect(types(translated.map((message) => message.content))).toEqual(known);
    },
  );

  test("tools are listed as such a client reads them", ({ expect }) => {
    const tools = [{ name: "a", execution: {}, outputSchema: { type: "array" } }, "no tool"];
    expect(toLegacyResult("tools/list", { tools }, reads(revision))["tools"]).toEqual([
      {
        name: "a",
        outputSchema: {
          type: "object",
          properties: { result: { type: "array" } },
          required: ["result"],
        },
      },
      "no tool",
    ]);
  });

  const call = (result: JsonObject, schema?: unknown, era?: "legacy"): JsonObject =>
    toLegacyResult("tools/call", result, reads(revision, era), schema);

  describe("structured output", () => {
    test.for([[1, 2], "text", 0, false, null])(
      "%j is wrapped, with or without a known schema",
      (value, { expect }) => {
        const result = { content: [text], structuredContent: value };
        const wrapped = { content: [text], structuredContent: { result: value } };
        for (const schema of [undefined, { type: "array" }, { type: "object" }]) {
          expect(call(result, schema)).toEqual(wrapped);
        }
        expect(call(result, undefined, "legacy")).toEqual(wrapped);
      },
    );

    test("an object is wrapped where its schema was", ({ expect }) => {
      const result = { content: [text], structuredContent: { n: 1 } };
      const wrapped = { ...result, structuredContent: { result: { n: 1 } } };
      for (const schema of [{ anyOf: [] }, { type: ["object", "null"] }, {}, true]) {
        expect(call(result, schema)).toEqual(wrapped);
        expect(call(result, schema, "legacy")).toEqual(result);
      }
      expect(call(result, { type: "object" })).toEqual(result);
      expect(call(result)).toEqual(result);
    });

    test.for([
      { name: "no content", content: undefined, translated: [] },
      { name: "an empty content", content: [], translated: [] },
      { name: "content without a text", content: [audio], translated: 1 },
    ])(
      "with $name, a wrapped value is there as text too",
      ({ content, translated }, { expect }) => {
        const result = { ...(content === undefined ? {} : { content }), structuredContent: [1] };
        const blocks = call(result)["content"] as unknown[];
        expect(blocks.at(-1)).toEqual({ type: "text", text: "[1]" });
        expect(blocks).toHaveLength(translated === 1 ? 2 : 1);
      },
    );

    test("a link that became a text does not stand for the value", ({ expect }) => {
      const blocks = call({ content: [link], structuredContent: [1] })["content"];
      expect(blocks).toHaveLength(2);
    });

    test("an object is there as text for clients without structured output", ({ expect }) => {
      const hidden = { content: [audio], structuredContent: { n: 1 } };
      for (const era of [undefined, "legacy"] as const) {
        const blocks = call(hidden, undefined, era)["content"] as unknown[];
        expect(blocks.slice(1)).toEqual(
          revision < "2025-06-18" ? [{ type: "text", text: '{"n":1}' }] : [],
        );
      }
    });
  });
});

test("two sounds of one result are two resources", ({ expect }) => {
  const { content } = toLegacyResult(
    "tools/call",
    { content: [audio, text, audio] },
    reads("2024-11-05"),
  );
  const uris = (content as JsonObject[]).map(({ resource }) => (resource as JsonObject)?.["uri"]);
  expect(uris).toEqual(["edgeway:audio/0", undefined, "edgeway:audio/2"]);
});

test.for([
  { method: "tools/list", result: { tools: "none" } },
  { method: "tools/call", result: { content: "text" } },
  { method: "prompts/get", result: { messages: {} } },
  { method: "prompts/get", result: { messages: [7, { role: "user" }] } },
])("a result of another form stays: $method $result", ({ method, result }, { expect }) => {
  expect(toLegacyResult(method, result, reads("2024-11-05"))).toEqual(result);
});

test("a result that is translated is not changed itself", ({ expect }) => {
  const result = { ...stamps, content: [link, audio], structuredContent: [1] };
  const before = JSON.stringify(result);
  toLegacyResult("tools/call", result, reads("2024-11-05"));
  expect(JSON.stringify(result)).toBe(before);
});
