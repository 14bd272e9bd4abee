/** What a client in a session is told of a request that goes no further, and what it is not told. */

import { describe, test } from "vitest";

import { initializeMessage, modern, ORIGIN, post, send, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { SseSession } from "../sse-client.ts";
import { jsonOf, Upstream } from "../upstream.ts";

const LIST = { jsonrpc: "2.0", method: "tools/list" } as const;

describe.for(["id-1", 0, ""])("the id %j of a request is in the error", (id) => {
  const list = { ...LIST, id };

  test.for<{ name: string; headers: Record<string, string>; status: number }>([
    { name: "without a session", headers: {}, status: 400 },
  ])("$name", async ({ headers, status }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await post(upstream.mcp, list, headers);
    expect(response.status).toBe(status);
    expect(await responseIn(response)).toMatchObject({ id, error: { code: expect.any(Number) } });
  });

  test.for(["2026-01-01", "2025-06-18"])(
    "of a session with version %s",
    async (version, { expect }) => {
      const upstream = await Upstream.take({ server: "legacy" });
      const session = await Session.open(upstream.mcp);
      const response = await session.post(list, { "MCP-Protocol-Version": version });
      expect(response.status).toBe(400);
      expect(await responseIn(response)).toMatchObject({ id, error: { code: -32000 } });
    },
  );

  test("over HTTP+SSE, of a request before initialize and of a body that is no request", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await SseSession.connect(upstream.sse);
    for (const body of [list, { jsonrpc: "1.0", id, method: "ping" }]) {
      const response = await post(session.endpoint, body);
      expect(response.status).toBe(400);
      expect(await responseIn(response)).toMatchObject({ id, error: { code: -32600 } });
    }
    await session.stream.cancel();
  });
});

test("the id of a request is in the error about a progress token that is too long", async ({
  expect,
}) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.open(upstream.mcp);
  const params = { name: "work", _meta: { progressToken: "t".repeat(1025) } };
  const response = await session.request("tools/call", params, "id-1");
  expect(response.status).toBe(400);
  expect(await responseIn(response)).toMatchObject({ id: "id-1", error: { code: -32600 } });
});

test("a request that is cancelled before its first message gets a stream without a response", async ({
  expect,
}) => {
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [{ heldBy: "never" }] },
  });
  const session = await Session.inUse(upstream.mcp);
  const call = session.callTool("work", {}, "c-1");
  await upstream.receives("tools/call");
  await session.notify("notifications/cancelled", { requestId: "c-1", reason: "enough" });
  const response = await call;
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(await response.text()).toBe("");
  const [cancelled] = await upstream.receives("notifications/cancelled");
  expect(cancelled?.body?.params).toMatchObject({ reason: "enough" });
});

describe("a body that is not UTF-8", () => {
  /** "é" of Latin-1, in a string; and a sequence that is cut. */
  const BODIES = [
    Uint8Array.from([...bytes('{"jsonrpc":"2.0","id":1,"method":"p'), 0xe9, ...bytes('"}')]),
    Uint8Array.from([...bytes('{"jsonrpc":"2.0","id":1,"method":"ping"}'), 0xc3]),
  ];

  test.for(BODIES)("is refused by every transport", async (body, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const sse = await SseSession.open(upstream.sse);
    const modernHeaders = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "ping" };
    for (const [path, headers] of [
      [upstream.mcp, session.headers],
      [upstream.mcp, modernHeaders],
      [sse.endpoint, {}],
    ] as const) {
      const response = await send(path.startsWith("http") ? path : ORIGIN + path, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          ...headers,
        },
        body,
      });
      expect(response.status).toBe(400);
      expect((await responseIn(response)).error).toMatchObject({
        code: -32700,
        message: "The body is not UTF-8",
      });
    }
    await sse.stream.cancel();
  });

  test("a body with a byte order mark is accepted", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await post(upstream.mcp, `\uFEFF${JSON.stringify(initializeMessage())}`);
    expect(await responseIn(response)).toHaveProperty("result");
  });
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

test.for([undefined, null, "gone", { reason: "gone" }, { uri: null }])(
  "-32002 of a legacy server with the data %j names the resource to a modern client",
  async (data, { expect }) => {
    const error = { code: -32002, message: "Not found", ...(data === undefined ? {} : { data }) };
    const upstream = await Upstream.take({
      server: "legacy",
      capabilities: { resources: {} },
      reactions: { "resources/read": [jsonOf({ error })] },
    });
    const response = await modern(upstream, "resources/read", { uri: "test://gone" });
    expect((await responseIn(response)).error).toMatchObject({
      code: -32602,
      data: { uri: "test://gone" },
    });
  },
);

test("the request that detects the era of a server names the client", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  await (await modern(upstream, "tools/list")).text();
  const [probe] = await upstream.sent("server/discover");
  expect(probe?.body?.params?.["_meta"]).toMatchObject({
    "io.modelcontextprotocol/clientInfo": { name: "edgeway", version: expect.any(String) },
  });
});
