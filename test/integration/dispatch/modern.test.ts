/** 2026-07-28 at the front door: what is rejected with which status, and what is ignored. */

import { describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import {
  CAPABILITIES_KEY,
  envelope,
  MODERN,
  modern,
  modernCall,
  post,
  send,
  VERSION_KEY,
} from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { Upstream } from "../upstream.ts";

const LIST = { "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list" } as const;
const CALL = { "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call" } as const;
const META = envelope();

interface Row {
  readonly name: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly status: number;
  readonly code?: number;
  readonly id?: unknown;
}

function list(meta: unknown, id: unknown = 7): Json {
  return { jsonrpc: "2.0", id, method: "tools/list", params: { _meta: meta } };
}

function other(method: string, params: Json = {}): Json {
  return { jsonrpc: "2.0", id: 7, method, params: { _meta: META, ...params } };
}

const call = other("tools/call", { name: "add", arguments: {} });

const REJECTIONS: readonly Row[] = [
  { name: "malformed JSON", body: "{", headers: LIST, status: 400, code: -32700 },
  { name: "an array", body: [list(META)], headers: LIST, status: 400, code: -32600 },
  {
    name: "neither request nor notification",
    body: { jsonrpc: "2.0", id: 7 },
    headers: LIST,
    status: 400,
    code: -32600,
    id: 7,
  },
  {
    name: "a version that is no string",
    body: list({ ...META, [VERSION_KEY]: 1 }),
    headers: LIST,
    status: 400,
    code: -32602,
    id: 7,
  },
  {
    name: "no capabilities",
    body: list({ [VERSION_KEY]: MODERN }),
    headers: LIST,
    status: 400,
    code: -32602,
    id: 7,
  },
  {
    name: "capabilities that are an array",
    body: list({ ...META, [CAPABILITIES_KEY]: [] }),
    headers: LIST,
    status: 400,
    code: -32602,
    id: 7,
  },
  {
    name: "a malformed clientInfo",
    body: list({ ...META, "io.modelcontextprotocol/clientInfo": "me" }),
    headers: LIST,
    status: 400,
    code: -32602,
    id: 7,
  },
  ...Object.entries({
    "a capability that is no object": { [CAPABILITIES_KEY]: { sampling: true } },
    "an extension that is no object": { [CAPABILITIES_KEY]: { extensions: { "a/b": [] } } },
    "icons that are no list": {
      "io.modelcontextprotocol/clientInfo": { name: "c", version: "1", icons: {} },
    },
    "a log level of nobody": { "io.modelcontextprotocol/logLevel": "loud" },
    "a progress token that is an object": { progressToken: {} },
  }).map(([name, meta]) => ({
    name,
    body: other("tools/call", { name: "add", _meta: { ...META, ...meta } }),
    headers: { ...CALL, "Mcp-Name": "add" },
    status: 400,
    code: -32602,
    id: 7,
  })),
  {
    name: "no envelope",
    body: { jsonrpc: "2.0", id: 7, method: "tools/list" },
    headers: LIST,
    status: 400,
    code: -32602,
    id: 7,
  },
  {
    name: "another version in the header",
    body: list(META),
    headers: { ...LIST, "MCP-Protocol-Version": "2025-11-25" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    name: "another method in the header",
    body: list(META),
    headers: { ...LIST, "Mcp-Method": "tools/call" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    name: "a method in other letters",
    body: list(META),
    headers: { ...LIST, "Mcp-Method": "Tools/List" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    name: "an unknown version",
    body: list({ ...META, [VERSION_KEY]: "2027-01-01" }),
    headers: { ...LIST, "MCP-Protocol-Version": "2027-01-01" },
    status: 400,
    code: -32022,
    id: 7,
  },
  {
    name: "an unknown version without headers",
    body: list({ ...META, [VERSION_KEY]: "2027-01-01" }),
    status: 400,
    code: -32022,
    id: 7,
  },
  {
    name: "a legacy version in the envelope",
    body: list({ ...META, [VERSION_KEY]: "2025-11-25" }),
    headers: { ...LIST, "MCP-Protocol-Version": "2025-11-25" },
    status: 400,
    code: -32022,
    id: 7,
  },
  {
    name: "no version header",
    body: list(META),
    headers: { "Mcp-Method": "tools/list" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    name: "no method header",
    body: list(META),
    headers: { "MCP-Protocol-Version": MODERN },
    status: 400,
    code: -32020,
    id: 7,
  },
  { name: "no name header", body: call, headers: CALL, status: 400, code: -32020, id: 7 },
  {
    name: "another name in the header",
    body: call,
    headers: { ...CALL, "Mcp-Name": "Add" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    name: "a name in bad base64",
    body: call,
    headers: { ...CALL, "Mcp-Name": "=?base64?YW*k?=" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    name: "a method of nobody",
    body: other("no/such"),
    headers: { ...LIST, "Mcp-Method": "no/such" },
    status: 404,
    code: -32601,
    id: 7,
  },
  ...[
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "constructor",
  ].map((method) => ({
    name: method,
    body: other(method, { uri: "file:///a" }),
    headers: { "MCP-Protocol-Version": MODERN, "Mcp-Method": method },
    status: 404,
    code: -32601,
    id: 7,
  })),
  {
    name: "initialize under a modern header",
    body: { jsonrpc: "2.0", id: 7, method: "initialize", params: {} },
    headers: { "MCP-Protocol-Version": MODERN },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    name: "Accept without text/event-stream",
    body: list(META),
    headers: { ...LIST, Accept: "application/json" },
    status: 406,
    code: -32000,
  },
  {
    name: "text/plain",
    body: list(META),
    headers: { ...LIST, "Content-Type": "text/plain" },
    status: 415,
    code: -32000,
  },
];

describe("rejects", () => {
  test.for(REJECTIONS)(
    "$name with $status",
    async ({ body, headers = {}, status, code, id }, { expect }) => {
      const upstream = await Upstream.take({ server: "modern" });
      const response = await post(upstream.mcp, body, headers);
      expect(response.status).toBe(status);
      expect(response.headers.has("mcp-session-id")).toBe(false);
      const message = await responseIn(response);
      expect(message.error?.code).toBe(code);
      expect(message.id).toBe(id);
      expect("id" in message).toBe(id !== undefined);
      expect(await upstream.log()).toHaveLength(0);
    },
  );

  test.for([0, "", "7", -1, 3.5, "ünï"])(
    "with the id %j, echoed with its type",
    async (id, { expect }) => {
      const upstream = await Upstream.take({ server: "modern" });
      const bad = await post(upstream.mcp, list({ [VERSION_KEY]: MODERN }, id), LIST);
      expect((await responseIn(bad)).id).toBe(id);
      const good = await responseIn(await modern(upstream, "tools/list", {}, { id }));
      expect(good).toMatchObject({ id, result: { resultType: "complete" } });
    },
  );

  test("an unknown version with the list of known ones", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const response = await post(upstream.mcp, list({ ...META, [VERSION_KEY]: "2031-01-01" }));
    expect((await responseIn(response)).error?.data).toEqual({
      supported: [MODERN],
      requested: "2031-01-01",
    });
  });

  test.for(["GET", "DELETE"])("%s with 405 and the method to use", async (method, { expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const headers = { "MCP-Protocol-Version": MODERN, Accept: "text/event-stream" };
    const response = await send(upstream.mcp, { method, headers });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    await response.text();
  });
});

test("a notification is answered with 202 and dropped", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "modern" });
  for (const params of [undefined, { _meta: META, requestId: 1 }]) {
    const notice = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    const response = await post(upstream.mcp, notice, { "MCP-Protocol-Version": MODERN });
    expect([response.status, await response.text()]).toEqual([202, ""]);
  }
  expect(await upstream.log()).toHaveLength(0);
});

test("a session id and Last-Event-ID are ignored", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "modern" });
  const headers = { "Mcp-Session-Id": "whatever", "Last-Event-ID": "p00000000-1.1" };
  const response = await modernCall(upstream, { headers });
  expect([response.status, response.headers.has("mcp-session-id")]).toEqual([200, false]);
  expect(await responseIn(response)).toHaveProperty("result");
  const [record] = await upstream.sent("tools/call");
  expect(record?.headers).not.toHaveProperty("mcp-session-id");
  expect(record?.headers).not.toHaveProperty("last-event-id");
});
