/** Results and errors of legacy servers, as modern clients are given them. */

import { describe, test } from "vitest";

import { toLegacyError, toModernError } from "../../../../src/protocol/revisions/errors.ts";
import { toModernResult } from "../../../../src/protocol/revisions/to-modern-result.ts";

const SERVER_INFO = "io.modelcontextprotocol/serverInfo";
const serverInfo = { name: "s", version: "1", title: "S" };
const _meta = { "com.example/own": 1 };

describe("toModernResult()", () => {
  const cacheable = ["tools/list", "resources/list", "resources/templates/list", "resources/read"];
  test.for([...cacheable, "prompts/list"])("%s is complete, and private", (method, { expect }) => {
    expect(toModernResult(method, { a: 1, _meta }, serverInfo)).toEqual({
      ...{ a: 1, resultType: "complete", ttlMs: 0, cacheScope: "private" },
      _meta: { ..._meta, [SERVER_INFO]: serverInfo },
    });
  });

  test.for(["tools/call", "prompts/get", "completion/complete"])(
    "%s is complete, and has nothing to do with caches",
    (method, { expect }) => {
      expect(toModernResult(method, { a: 1 })).toEqual({ a: 1, resultType: "complete" });
    },
  );

  test("members of the newer revision in a legacy server's result are ignored", ({ expect }) => {
    const result = {
      ...{ resultType: "input_required", ttlMs: 9, cacheScope: "public", content: [] },
      ...{ inputRequests: { a: { method: "roots/list" } }, requestState: "s" },
      _meta: {
        ..._meta,
        [SERVER_INFO]: { name: "another", version: "2" },
        "io.modelcontextprotocol/subscriptionId": 1,
        "io.modelcontextprotocol/related-task": { taskId: "t" },
        "io.modelcontextprotocol/model-immediate-response": "soon",
      },
    };
    const plain = { content: [], resultType: "complete", _meta };
    expect(toModernResult("tools/call", result)).toEqual(plain);
    expect(toModernResult("resources/read", result)).toEqual({
      ...{ ...plain, ttlMs: 0, cacheScope: "private" },
    });
  });

  test.for([undefined, {}, { name: "s" }, { name: "s", version: 1 }, { name: null, version: "1" }])(
    "%j names no server",
    (named, { expect }) => {
      expect(toModernResult("tools/call", {}, named)).toEqual({ resultType: "complete" });
    },
  );

  test("tools lose the member for their run as tasks; their output stays", ({ expect }) => {
    const tool = { name: "a", outputSchema: { type: "object" }, title: "A" };
    const result = { tools: [{ ...tool, execution: { taskSupport: "required" } }, 7] };
    expect(toModernResult("tools/list", result)["tools"]).toEqual([tool, 7]);
  });

  test("what was given is not changed", ({ expect }) => {
    const result = { _meta, tools: [{ name: "a", execution: {} }] };
    const before = JSON.stringify(result);
    toModernResult("tools/list", result, serverInfo);
    expect(JSON.stringify(result)).toBe(before);
  });
});

describe("toModernError()", () => {
  const message = "m";
  test.for([
    {
      name: "a missing resource is a bad param that is named",
      error: { code: -32002, data: { uri: "a:b", more: 1 } },
      translated: { code: -32602, data: { uri: "a:b", more: 1 } },
    },
    {
      name: "a missing resource is named where its server does not",
      error: { code: -32002 },
      translated: { code: -32602, data: { uri: "asked:for" } },
    },
    {
      name: "a missing resource is named beside its server's data",
      error: { code: -32002, data: { more: 1 } },
      translated: { code: -32602, data: { uri: "asked:for", more: 1 } },
    },
    {
      name: "a missing resource is named when its server's data are of another type",
      error: { code: -32002, data: "gone" },
      translated: { code: -32602, data: { uri: "asked:for" } },
    },
    ...[-32020, -32021, -32022, -32042, -32099].map((code) => ({
      name: `${code} would mean something that it does not mean`,
      error: { code, data: { a: 1 } },
      translated: { code: -32603, data: { a: 1 } },
    })),
    ...[-1, 7, -32000, -32001, -32019, -32100, -32601, -32602, -32603, -32700].map((code) => ({
      name: `${code} means the same`,
      error: { code, data: [1] },
      translated: { code, data: [1] },
    })),
  ])("$name", ({ error, translated }, { expect }) => {
    expect(toModernError("resources/read", { message, ...error }, "asked:for")).toEqual({
      message,
      ...translated,
    });
  });

  test("no revision after 2025-11-25 may have an error with -32002", ({ expect }) => {
    const error = { code: -32002, message, data: { a: 1 } };
    expect(toModernError("prompts/get", error)).toEqual({ ...error, code: -32602 });
    expect(toModernError("resources/read", { code: -32002, message })).toEqual({
      code: -32602,
      message,
    });
  });
});

describe("toLegacyError()", () => {
  test("a missing resource has a code of its own", ({ expect }) => {
    const error = { code: -32602, message: "m", data: { uri: "a:b", more: 1 } };
    expect(toLegacyError("resources/read", error)).toEqual({ ...error, code: -32002 });
  });

  test.for([
    { method: "resources/read", error: { code: -32602 } },
    { method: "resources/read", error: { code: -32602, data: { uri: 7 } } },
    { method: "resources/read", error: { code: -32602, data: "a:b" } },
    { method: "resources/read", error: { code: -32603, data: { uri: "a:b" } } },
    { method: "prompts/get", error: { code: -32602, data: { uri: "a:b" } } },
    { method: "tools/call", error: { code: -32601 } },
  ])("$method $error is no such thing", ({ method, error }, { expect }) => {
    const full = { message: "m", ...error };
    expect(toLegacyError(method, full)).toEqual(full);
  });
});
