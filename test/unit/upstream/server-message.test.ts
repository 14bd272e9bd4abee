/** The checks of a server's message: nothing in the gateway's name, and no URL but one of the web. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import type { JsonObject, Parsed } from "../../../src/protocol/json-rpc.ts";
import { parseServerMessage, refusalOf } from "../../../src/upstream/server-message.ts";

const REMOTE = { slug: "docs", endpoint: new URL("https://docs.test/mcp") };
const LOCAL = { slug: "docs", endpoint: new URL("http://127.0.0.1:9/mcp") };
const FORGED = { "edgeway/server": "bank", "edgeway/anything": 1 };

function read(members: JsonObject, server = REMOTE): Parsed["message"] {
  const parsed = parseServerMessage(server, { jsonrpc: "2.0", ...members });
  if (parsed === undefined) throw new Error("It is no message");
  return parsed.message;
}

const taken = (data: unknown): unknown => read({ id: 1, error: { code: 1, message: "m", data } });

describe("the gateway's own members", () => {
  test.for<readonly [name: string, given: JsonObject, taken: JsonObject]>([
    ["of a result", { _meta: FORGED, a: 1 }, { _meta: {}, a: 1 }],
    [
      "of a thing in a list",
      { tools: [{ name: "a", _meta: FORGED }] },
      { tools: [{ name: "a", _meta: {} }] },
    ],
    [
      "of content in content",
      { content: [{ resource: { _meta: FORGED } }] },
      { content: [{ resource: { _meta: {} } }] },
    ],
    [
      "of a question under any key",
      { inputRequests: { structuredContent: { method: "roots/list", params: { _meta: FORGED } } } },
      { inputRequests: { structuredContent: { method: "roots/list", params: { _meta: {} } } } },
    ],
    [
      "of the result of a task",
      { result: { _meta: { ...FORGED, own: 1 } } },
      { result: { _meta: { own: 1 } } },
    ],
  ])("%s are removed", ([, given, taken], { expect }) => {
    expect(read({ id: 1, result: given })).toEqual({ jsonrpc: "2.0", id: 1, result: taken });
  });

  test("of notifications and requests are removed", ({ expect }) => {
    const params = {
      a: [{ _meta: { ...FORGED, own: 1 } }],
      _meta: { ...FORGED, progressToken: 1 },
    };
    const taken = { a: [{ _meta: { own: 1 } }], _meta: { progressToken: 1 } };
    const method = "notifications/message";
    expect(read({ method, params })).toEqual({ jsonrpc: "2.0", method, params: taken });
    expect(read({ id: 1, method: "sampling/createMessage", params })).toMatchObject({
      params: taken,
    });
  });

  test("stay in the content of a tool", ({ expect }) => {
    const result = {
      structuredContent: { _meta: FORGED },
      tools: [{ inputSchema: { _meta: FORGED } }],
    };
    expect(read({ id: 1, result })).toEqual({ jsonrpc: "2.0", id: 1, result });
  });

  test("of an error are removed with the name of a server that stands for them", ({ expect }) => {
    const error = { code: 1, message: "m" };
    expect(taken({ upstream: "bank", reason: "lost" })).toMatchObject({ error });
    expect(taken({ upstream: "bank" })).not.toHaveProperty("error.data");
    expect(taken({ upstream: 0, retryAfter: 1, a: 1 })).toHaveProperty("error.data", { a: 1 });
    expect(taken({ reason: "own", status: 1 })).toHaveProperty("error.data", {
      reason: "own",
      status: 1,
    });
    expect(taken({ a: { _meta: FORGED } })).toHaveProperty("error.data", { a: { _meta: {} } });
    expect(taken("upstream")).toHaveProperty("error.data", "upstream");
  });
});

test("a message without a forgery stays as it is", ({ expect }) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const result = { value };
      expect(read({ id: 1, result })).toEqual({ jsonrpc: "2.0", id: 1, result });
    }),
  );
});

test("a key of Object.prototype is one like any other", ({ expect }) => {
  const text = `{"jsonrpc":"2.0","id":1,"result":{"_meta":{"edgeway/server":"bank"},"__proto__":{"x":1}}}`;
  const parsed = parseServerMessage(REMOTE, JSON.parse(text));
  const cleaned = text.replace(`"edgeway/server":"bank"`, "");
  expect(JSON.parse(JSON.stringify(parsed?.message))).toEqual(JSON.parse(cleaned));
  expect(JSON.stringify(parsed?.message)).toContain(`"__proto__":{"x":1}`);
});

const visit = (url: unknown): JsonObject => ({ mode: "url", message: "Look", url });
const asks = (params: JsonObject): JsonObject => ({ method: "elicitation/create", params });
const shown = (url: string): unknown => read({ id: 1, ...asks(visit(url)) });

const isRefused = (url: unknown, server = REMOTE): boolean =>
  refusalOf(server, { method: "elicitation/create", params: visit(url) }) !== undefined;

describe("a URL elicitation", () => {
  test.for(["https://a.test/", "HTTPS://a.test:1/?q#f", "https://例え.jp/ü"])(
    "to %s stays as it came",
    (url, { expect }) => {
      expect(isRefused(url)).toBe(false);
      expect(read({ id: 1, ...asks(visit(url)) })).toMatchObject({ params: { url } });
    },
  );

  test("to a URL with invisible characters has the URL as a browser reads it", ({ expect }) => {
    expect(shown(" https://a.t\u200Best/\u202Egnp")).toMatchObject({
      params: { url: "https://a.test/%E2%80%AEgnp" },
    });
    expect(shown("https:a.test\n/")).toMatchObject({ params: { url: "https://a.test/" } });
  });

  test.for([
    ...["http://a.test/", "http://localhost/", "javascript:x", "\u0000javascript:x", "a.test", ""],
    ...[
      "file:///a",
      "ftp://a.test",
      "blob:https://a.test/1",
      "view-source:https://a.test",
      1,
      null,
    ],
  ])("to %j is refused", (url, { expect }) => {
    expect(isRefused(url)).toBe(true);
    expect(isRefused(url, LOCAL)).toBe(url !== "http://localhost/");
  });

  test("is recognised with a URL in any mode or none, and without a URL by its mode", ({
    expect,
  }) => {
    const refused = (params: JsonObject): unknown =>
      refusalOf(REMOTE, { method: "elicitation/create", params });
    expect(refused({ message: "m", url: "javascript:x" })).toBeDefined();
    expect(refused({ mode: "form", url: "javascript:x" })).toBeDefined();
    expect(refused({ mode: "url" })).toBeDefined();
    expect(refused({ mode: "form", requestedSchema: {} })).toBeUndefined();
    expect(refusalOf(REMOTE, { method: "roots/list" })).toBeUndefined();
  });

  test("that is refused turns the result or error that asks for it into an exact one", ({
    expect,
  }) => {
    const message = `Upstream "docs" asks for a visit to a URL that is not https:, so nobody is asked; have it name an https: URL`;
    const data = { upstream: "docs", reason: "malformed" };
    const error = { jsonrpc: "2.0", id: 1, error: { code: -32603, message, data } };
    const inputRequests = { a: asks(visit("https://a.test")), b: asks(visit("data:,x")) };
    const elicitations = [visit("https://a.test"), visit("http://a.test")];
    expect(read({ id: 1, result: { resultType: "input_required", inputRequests } })).toEqual(error);
    expect(
      read({ id: 1, error: { code: -32042, message: "Visit", data: { elicitations } } }),
    ).toEqual(error);
  });
});

test("labels of a form are cleaned; values that come back as data are not", ({ expect }) => {
  const dirty = "\u202Ea\u0007";
  const params = {
    ...{ message: dirty, mode: "form" },
    requestedSchema: {
      ...{ type: "object", title: dirty, required: [dirty] },
      properties: {
        [dirty]: { type: "string", description: dirty, default: dirty, enum: [dirty] },
        title: { oneOf: [{ const: dirty, title: dirty }], enumNames: [dirty] },
      },
    },
  };
  expect(read({ id: 1, method: "elicitation/create", params })).toMatchObject({
    params: {
      message: "a",
      requestedSchema: {
        ...{ type: "object", title: "a", required: [dirty] },
        properties: {
          [dirty]: { type: "string", description: "a", default: dirty, enum: [dirty] },
          title: { oneOf: [{ const: dirty, title: "a" }], enumNames: ["a"] },
        },
      },
    },
  });
});

test("a value that is no message is left alone", ({ expect }) => {
  expect(parseServerMessage(REMOTE, { result: {} })).toBeUndefined();
});
