/** The statuses of Streamable HTTP with sessions, 2025-03-26 to 2025-11-25: every row. */

import { describe, test } from "vitest";

import {
  BOTH_TYPES,
  initializeMessage,
  LATEST_LEGACY,
  MODERN,
  post,
  send,
  Session,
} from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { Upstream } from "../upstream.ts";

const REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25"] as const;
const PING = { jsonrpc: "2.0", id: 5, method: "ping" } as const;
const NOTICE = { jsonrpc: "2.0", method: "notifications/roots/list_changed" } as const;

describe("a POST without a request is answered 202 without a body:", () => {
  test.for<{ name: string; body: unknown; revision?: string }>([
    { name: "a notification", body: NOTICE },
    {
      name: "an unknown notification",
      body: { jsonrpc: "2.0", method: "notifications/unheard-of" },
    },
    { name: "a response", body: { jsonrpc: "2.0", id: 1, result: {} } },
    {
      name: "an error response",
      body: { jsonrpc: "2.0", id: "x", error: { code: 1, message: "no" } },
    },
    {
      name: "a cancellation of nothing",
      body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } },
    },
    { name: "a batch of notifications", body: [NOTICE, NOTICE], revision: "2025-03-26" },
    {
      name: "a batch of responses",
      body: [{ jsonrpc: "2.0", id: 1, result: {} }],
      revision: "2025-03-26",
    },
  ])("$name", async ({ body, revision = LATEST_LEGACY }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp, { revision });
    const response = await post(upstream.mcp, body, session.headers);
    expect([response.status, await response.text()]).toEqual([202, ""]);
  });
});

interface Refusal {
  readonly name: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly withoutSession?: true;
  readonly status: number;
  readonly code: number;
  /** Echoed when it could be read; absent otherwise. */
  readonly id?: unknown;
}

const REFUSALS: readonly Refusal[] = [
  {
    name: "Accept without text/event-stream",
    body: PING,
    headers: { Accept: "application/json" },
    status: 406,
    code: -32000,
  },
  {
    name: "Accept without application/json",
    body: PING,
    headers: { Accept: "text/event-stream" },
    status: 406,
    code: -32000,
  },
  {
    name: "Accept that refuses one",
    body: PING,
    headers: { Accept: "application/json, text/event-stream;q=0" },
    status: 406,
    code: -32000,
  },
  { name: "no Accept", body: PING, headers: { Accept: undefined }, status: 406, code: -32000 },
  {
    name: "GET that accepts JSON only",
    method: "GET",
    headers: { Accept: "application/json" },
    status: 406,
    code: -32000,
  },
  {
    name: "text/plain",
    body: PING,
    headers: { "Content-Type": "text/plain" },
    status: 415,
    code: -32000,
  },
  {
    name: "a form",
    body: "a=b",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    status: 415,
    code: -32000,
  },
  {
    name: "a type that begins alike",
    body: PING,
    headers: { "Content-Type": "application/json-seq" },
    status: 415,
    code: -32000,
  },
  { name: "an empty body", body: "", status: 400, code: -32700 },
  { name: "a body that is not JSON", body: "{", status: 400, code: -32700 },
  { name: "JSON that is not JSON-RPC", body: { hello: 1 }, status: 400, code: -32600 },
  { name: "JSON-RPC 1.0", body: { id: 3, method: "ping" }, status: 400, code: -32600, id: 3 },
  { name: "a string", body: '"ping"', status: 400, code: -32600 },
  { name: "null", body: "null", status: 400, code: -32600 },
  { name: "an id of null", body: { ...PING, id: null }, status: 400, code: -32600 },
  { name: "an id that is an object", body: { ...PING, id: {} }, status: 400, code: -32600 },
  {
    name: "params that are an array",
    body: { ...PING, params: [] },
    status: 400,
    code: -32600,
    id: 5,
  },
  { name: "an empty batch", body: [], status: 400, code: -32600 },
  { name: "a batch with garbage in it", body: [PING, 1], status: 400, code: -32600 },
  { name: "no session id", body: PING, withoutSession: true, status: 400, code: -32000, id: 5 },
  {
    name: "GET without a session id",
    method: "GET",
    withoutSession: true,
    status: 400,
    code: -32000,
  },
  {
    name: "DELETE without a session id",
    method: "DELETE",
    withoutSession: true,
    status: 400,
    code: -32000,
  },
  {
    name: "a second initialize",
    body: initializeMessage(LATEST_LEGACY, {}, 9),
    status: 400,
    code: -32600,
    id: 9,
  },
  { name: "initialize in a batch", body: [initializeMessage(), PING], status: 400, code: -32600 },
  {
    name: "initialize in a batch without a session",
    body: [initializeMessage(), PING],
    withoutSession: true,
    status: 400,
    code: -32600,
  },
  { name: "PUT", method: "PUT", status: 405, code: -32000 },
  { name: "PATCH", method: "PATCH", status: 405, code: -32000 },
  {
    name: "an unknown version",
    body: PING,
    headers: { "MCP-Protocol-Version": "2025-99-99" },
    status: 400,
    code: -32000,
    id: 5,
  },
  {
    name: "a version that is no date",
    body: PING,
    headers: { "MCP-Protocol-Version": "latest" },
    status: 400,
    code: -32000,
    id: 5,
  },
  {
    name: "GET with an unknown version",
    method: "GET",
    headers: { "MCP-Protocol-Version": "2025-99-99" },
    status: 400,
    code: -32000,
  },
  {
    name: "DELETE with an unknown version",
    method: "DELETE",
    headers: { "MCP-Protocol-Version": "1.0" },
    status: 400,
    code: -32000,
  },
  {
    name: "a modern version without its envelope",
    body: PING,
    headers: { "MCP-Protocol-Version": MODERN },
    status: 400,
    code: -32602,
    id: 5,
  },
  {
    name: "a bad Last-Event-ID",
    method: "GET",
    headers: { "Last-Event-ID": "no-such-event" },
    status: 400,
    code: -32000,
  },
];

describe("refuses", () => {
  test.for(REFUSALS)("$name with $status", async (row, { expect }) => {
    const { method = "POST", body, headers = {}, withoutSession, status, code, id } = row;
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const given = { ...(withoutSession === true ? {} : session.headers), ...headers };
    const response =
      method === "POST"
        ? await post(upstream.mcp, body, given)
        : await send(upstream.mcp, {
            method,
            headers: { Accept: BOTH_TYPES, ...(given as Record<string, string>) },
            ...(method === "PUT" || method === "PATCH" ? { body: "{}" } : {}),
          });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/json");
    if (status === 405) expect(response.headers.get("allow")).toMatch(/GET, POST, DELETE/);
    const message = await responseIn(response);
    expect(message).toMatchObject({ jsonrpc: "2.0", error: { code } });
    expect(message.id).toEqual(id);
    expect("id" in message).toBe(id !== undefined);
    // Nothing of it reached the upstream, and the session goes on.
    expect(await upstream.used()).toEqual([]);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
  });

  test("a bad Last-Event-ID by its name", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const response = await session.get({ "Last-Event-ID": "g00000000-1.x" });
    expect((await responseIn(response)).error?.message).toContain("Last-Event-ID");
  });
});

describe("MCP-Protocol-Version", () => {
  test.for(REVISIONS)(
    "may be absent in a session of %s, or name its revision; another is refused with 400",
    async (revision, { expect }) => {
      const upstream = await Upstream.take({ server: "legacy" });
      const session = await Session.open(upstream.mcp, { revision });
      const id = { "Mcp-Session-Id": session.id };
      for (const version of [undefined, "2024-11-05", ...REVISIONS]) {
        const headers = { ...id, "MCP-Protocol-Version": version };
        const isAgreed = version === undefined || version === revision;
        const served = await post(upstream.mcp, PING, headers);
        expect([version, served.status]).toEqual([version, isAgreed ? 200 : 400]);
        const message = await responseIn(served);
        if (isAgreed) expect(message).toEqual({ jsonrpc: "2.0", id: 5, result: {} });
        else {
          // The sentence names both, so that whoever reads it knows what to mend.
          expect(message.error?.message).toContain(version);
          expect(message.error?.message).toContain(revision);
        }
      }
    },
  );

  test("of another revision opens no stream, and ends no session", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
    const headers = { ...session.headers, "MCP-Protocol-Version": "2025-11-25" };
    for (const method of ["GET", "DELETE"]) {
      const response = await send(upstream.mcp, {
        method,
        headers: { ...headers, Accept: "text/event-stream" },
      });
      expect([method, response.status]).toEqual([method, 400]);
      await response.text();
    }
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
  });
});
