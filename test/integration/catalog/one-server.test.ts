/** A gateway with one server: `/mcp`, `/sse` and `/sse/message` lead to it without its name. */

import { beforeAll, test } from "vitest";

import { modernCall, post, send, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { takeOnly } from "../only-server.ts";
import { SseSession } from "../sse-client.ts";
import type { Upstream } from "../upstream.ts";

let only: Upstream;

beforeAll(async () => {
  only = await takeOnly({ server: "dual" });
});

test("/mcp serves both eras", async ({ expect }) => {
  const session = await Session.open("/mcp");
  expect(await responseIn(await session.callTool())).toHaveProperty("result");
  expect(await responseIn(await modernCall({ mcp: "/mcp" }))).toHaveProperty("result");
});

test("/sse names /sse/message", async ({ expect }) => {
  const session = await SseSession.open("/sse");
  expect(session.endpoint).toMatch(/^\/sse\/message\?sessionId=/);
  expect(await session.request("tools/call", { name: "work" })).toHaveProperty("result");
  await session.stream.cancel();
});

test("a session of /mcp is unknown at the server's own endpoint, and the other way round", async ({
  expect,
}) => {
  const [root, named] = [await Session.open("/mcp"), await Session.open(only.mcp)];
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  for (const response of [
    await post(only.mcp, ping, root.headers),
    await post("/mcp", ping, named.headers),
  ]) {
    expect(response.status).toBe(404);
    await response.text();
  }
});

test("every other path gets 404 with a hint to /mcp", async ({ expect }) => {
  for (const path of [
    "/mcp/nobody",
    "/sse/nobody",
    "/sse/nobody/message",
    "/nowhere",
    "/mcp/a/b",
  ]) {
    const response = await send(path, { method: "POST" });
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.text()).toContain("/mcp");
  }
});
