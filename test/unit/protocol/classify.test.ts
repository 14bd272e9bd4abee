/** The era that `classify` assigns to each request (2026-07-28, versioning; protocol reference 1.5). */

import { describe, test } from "vitest";

import { classify, type MirroredHeaders } from "../../../src/protocol/classify.ts";
import {
  CAPABILITIES,
  CLIENT_INFO,
  meta,
  mirrored,
  MODERN,
  NO_HEADERS,
  request,
  VERSION,
} from "./modern-requests.ts";

const header = (protocolVersion: string | null): MirroredHeaders => ({
  ...NO_HEADERS,
  protocolVersion,
});

describe("classify() accepts", () => {
  const list = request("tools/list");
  const call = request("tools/call", { name: "add" });
  test.for([
    { name: "a request without params", body: list, headers: mirrored("tools/list") },
    { name: "Mcp-Method with spaces around", body: list, headers: mirrored(" tools/list\t") },
    { name: "Mcp-Name of a tool", body: call, headers: mirrored("tools/call", "add") },
    { name: "Mcp-Name with spaces around", body: call, headers: mirrored("tools/call", "  add ") },
    {
      name: "Mcp-Name of a tool, in base64",
      body: call,
      headers: mirrored("tools/call", "=?base64?YWRk?="),
    },
    {
      name: "Mcp-Name of a prompt, not ASCII",
      body: request("prompts/get", { name: "é" }),
      headers: mirrored("prompts/get", "=?base64?w6k=?="),
    },
    {
      name: "Mcp-Name of a resource, which is its URI",
      body: request("resources/read", { uri: "test://a", name: "other" }),
      headers: mirrored("resources/read", "test://a"),
    },
    {
      name: "an unfinished sentinel, which is a literal",
      body: request("tools/call", { name: "=?base64?YWRk" }),
      headers: mirrored("tools/call", "=?base64?YWRk"),
    },
    {
      name: "a name where none is mirrored",
      body: list,
      headers: mirrored("tools/list", "whatever"),
    },
    {
      name: "server/discover",
      body: request("server/discover"),
      headers: mirrored("server/discover"),
    },
    {
      name: "subscriptions/listen",
      body: request("subscriptions/listen", { notifications: {} }),
      headers: mirrored("subscriptions/listen"),
    },
  ])("$name as modern", ({ body, headers }, { expect }) => {
    expect(classify(body, headers)).toEqual({
      kind: "modern",
      message: body,
      envelope: { protocolVersion: MODERN, clientCapabilities: {} },
    });
  });

  test("a full envelope, with the client's info", ({ expect }) => {
    const clientInfo = { name: "c", version: "1", title: "C" };
    const capabilities = { sampling: {} };
    const body = request("tools/list", {
      _meta: { ...meta(), [CAPABILITIES]: capabilities, [CLIENT_INFO]: clientInfo },
    });
    expect(classify(body, mirrored("tools/list"))).toMatchObject({
      kind: "modern",
      envelope: { protocolVersion: MODERN, clientCapabilities: capabilities, clientInfo },
    });
  });
});

describe("classify() rejects a body that is no message, with -32600 and no made-up id:", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  test.for([
    { name: "null", body: null },
    { name: "a string", body: "ping" },
    { name: "an empty object", body: {} },
    { name: "an id that is null", body: { ...ping, id: null } },
    { name: "an id that is an object", body: { ...ping, id: {} } },
    { name: "an empty batch", body: [] },
    { name: "a batch with something else in it", body: [ping, 5] },
    { name: "a batch in a batch", body: [[ping]] },
    { name: "a batch with a modern request", body: [ping, request("tools/list")] },
    { name: "a batch with a broken claim", body: [request("tools/list", { _meta: meta(5) })] },
    {
      name: "a batch with a modern notification",
      body: [{ jsonrpc: "2.0", method: "notifications/x", params: { _meta: meta() } }],
    },
  ])("$name", ({ body }, { expect }) => {
    const classified = classify(body, NO_HEADERS);
    expect(classified).toMatchObject({ kind: "rejected", status: 400, error: { code: -32600 } });
    expect(classified).not.toHaveProperty("id");
  });
});

describe("classify() leaves to the legacy era", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const result = { jsonrpc: "2.0", id: 1, result: {} };
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
  const notice = { jsonrpc: "2.0", method: "notifications/initialized" };
  test.for([
    { name: "a request without claim or header", body: ping, headers: NO_HEADERS },
    { name: "a request under an old header", body: ping, headers: header("2025-06-18") },
    { name: "a request under an unknown header", body: ping, headers: header("nonsense") },
    { name: "an unknown method", body: { ...ping, method: "no/method" }, headers: NO_HEADERS },
    { name: "a result", body: result, headers: NO_HEADERS },
    { name: "a result, even under a modern header", body: result, headers: header(MODERN) },
    {
      name: "an error without id",
      body: { jsonrpc: "2.0", error: { code: -32000, message: "m" } },
      headers: NO_HEADERS,
    },
    { name: "a notification", body: notice, headers: NO_HEADERS },
    { name: "a notification under an old header", body: notice, headers: header("2025-11-25") },
    { name: "initialize", body: initialize, headers: NO_HEADERS },
    { name: "initialize under an old header", body: initialize, headers: header("2025-11-25") },
    {
      name: "initialize with the modern revision in the old place",
      body: { ...initialize, params: { protocolVersion: MODERN } },
      headers: NO_HEADERS,
    },
    {
      name: "initialize with a malformed envelope",
      body: request("initialize", { _meta: { [VERSION]: MODERN } }),
      headers: NO_HEADERS,
    },
    {
      name: "initialize with an envelope of an old version",
      body: request("initialize", { _meta: meta("2025-11-25") }),
      headers: header("2025-11-25"),
    },
  ])("$name", ({ body, headers }, { expect }) => {
    const classified = classify(body, headers);
    expect(classified).toMatchObject({ kind: "legacy", messages: [{ message: body }] });
    expect(classified).toHaveProperty("isBatch", false);
  });

  test("a batch, in its order", ({ expect }) => {
    expect(classify([ping, notice, result], NO_HEADERS)).toEqual({
      kind: "legacy",
      isBatch: true,
      messages: [
        { kind: "request", message: ping },
        { kind: "notification", message: notice },
        { kind: "response", message: result },
      ],
    });
  });

  test("a batch of one, which is still a batch", ({ expect }) => {
    expect(classify([ping], NO_HEADERS)).toMatchObject({ kind: "legacy", isBatch: true });
  });
});

const claiming = (claim?: unknown): object => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  ...(claim === undefined ? {} : { params: { _meta: { [VERSION]: claim } } }),
});

describe("classify() takes a notification (step 8)", () => {
  test.for([
    { name: "a claim wins without a header", claim: MODERN, version: null },
    { name: "a claim agrees with the header", claim: MODERN, version: MODERN },
    { name: "without a claim the header decides", claim: undefined, version: MODERN },
  ])("for modern: $name", ({ claim, version }, { expect }) => {
    expect(classify(claiming(claim), header(version))).toEqual({
      kind: "modern-notification",
      message: claiming(claim),
    });
  });

  test("as invalid when its claim differs from the header, without an id", ({ expect }) => {
    expect(classify(claiming(MODERN), header("2025-06-18"))).toEqual({
      kind: "rejected",
      status: 400,
      error: { code: -32020, message: expect.stringContaining("MCP-Protocol-Version") },
    });
  });
});
