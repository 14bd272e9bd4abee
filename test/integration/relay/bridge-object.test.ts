/** A modern client at a legacy server: its requests, in the words of its era and of the other. */

import { describe, test } from "vitest";

import { BridgeClient } from "./bridge-client.ts";
import { jsonOf, sessionOf, streamOf, Upstream } from "../upstream.ts";

const SERVER_INFO = {
  "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.2.3" },
};

const BROKEN = { code: -32021, message: "Broken", data: { why: 1 } };

describe("a request", () => {
  test("that calls a tool is answered in the words of its era", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const { result } = await new BridgeClient(upstream).call();
    expect(result).toEqual({
      content: [{ type: "text", text: "ran work" }],
      ...{ resultType: "complete", _meta: SERVER_INFO },
    });
    const [call] = await upstream.sent("tools/call");
    expect(call?.body?.params).toEqual({ name: "work", arguments: {} });
    expect(call?.headers["mcp-protocol-version"]).toBe("2025-11-25");
  });

  test("that reads a list gets a result that may not be cached", async ({ expect }) => {
    const tools = [{ name: "a", inputSchema: { type: "object" } }];
    const upstream = await Upstream.take({ server: "legacy", tools });
    const { result } = await new BridgeClient(upstream).request("tools/list");
    expect(result).toEqual({
      ...{ tools, resultType: "complete", ttlMs: 0, cacheScope: "private", _meta: SERVER_INFO },
    });
  });

  test("for an unknown resource gets an error that names it", async ({ expect }) => {
    const error = { code: -32002, message: "No such resource" };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "resources/read": [jsonOf({ error })] },
    });
    const { error: answer } = await new BridgeClient(upstream).request("resources/read", {
      uri: "file:///x",
    });
    expect(answer).toEqual({ ...error, code: -32602, data: { uri: "file:///x" } });
  });

  test("for the server's description is answered from the handshake", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      capabilities: { tools: { listChanged: true }, tasks: {}, experimental: { x: {} } },
    });
    const client = new BridgeClient(upstream);
    const { result } = await client.request("server/discover");
    expect(result).toEqual({
      ...{ resultType: "complete", supportedVersions: ["2026-07-28"], ttlMs: 60_000 },
      ...{ capabilities: { tools: { listChanged: true } }, cacheScope: "private" },
      ...{ instructions: "Do as the script says.", _meta: SERVER_INFO },
    });
    await client.call();
    expect(await upstream.sent("initialize")).toHaveLength(1);
  });

  test.for(["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "x"])(
    "by the method %s, which its era has not, reaches nobody",
    async (method, { expect }) => {
      const upstream = await Upstream.take({ server: "legacy" });
      const { error } = await new BridgeClient(upstream).request(method);
      expect(error).toMatchObject({ code: -32601 });
      expect(await upstream.log()).toEqual([]);
    },
  );

  test("uses the session that all requests of its principal share", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const client = new BridgeClient(upstream);
    await Promise.all([client.call(), client.call(), client.request("tools/list")]);
    await client.call();
    await client.call({}, { principal: "somebody else" });
    const sessions = (await upstream.sent("tools/call")).map(sessionOf);
    expect(new Set(sessions.slice(0, 3)).size).toBe(1);
    expect(sessions[3]).not.toBe(sessions[0]);
    expect(await upstream.sessions()).toHaveLength(2);
  });

  test("uses another session when its client has other capabilities", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const client = new BridgeClient(upstream);
    const elicitation = { form: {}, url: {} };
    await client.call({}, { capabilities: { elicitation, unknown: { a: 1 } } });
    await client.call({}, { capabilities: { elicitation: { ...elicitation, more: 1 } } });
    await client.call({}, { capabilities: {} });
    const opened = await upstream.sent("initialize");
    expect(opened.map(({ body }) => body?.params?.["capabilities"])).toEqual([{ elicitation }, {}]);
  });

  test("in a session that the server has forgotten opens another, and runs once", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const client = new BridgeClient(upstream);
    await client.call();
    await upstream.forget();
    expect((await client.call()).result).toBeDefined();
    expect((await upstream.sent("tools/call")).map(({ status }) => status)).toEqual([
      200, 404, 200,
    ]);
  });

  test("that fails at the server gets the server's error", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ status: 503 }, streamOf(), jsonOf({ error: BROKEN })] },
    });
    const client = new BridgeClient(upstream);
    const data = { upstream: upstream.slug };
    expect((await client.call()).error?.data).toMatchObject({ ...data, reason: "unreachable" });
    expect((await client.call()).error?.data).toMatchObject({ ...data, reason: "lost" });
    // What it means on the modern wire is not what this server means.
    expect((await client.call()).error).toEqual({ ...BROKEN, code: -32603 });
  });
});

describe("a server that wants pages to be visited first", () => {
  const page = { mode: "url", url: "https://a.test/", message: "Go there", elicitationId: "e1" };
  const error = { code: -32042, message: "Visit", data: { elicitations: [page] } };
  const wanting = (): Promise<Upstream> =>
    Upstream.take({ server: "legacy", reactions: { "tools/call": [jsonOf({ error })] } });

  test("has the client sent there, and is called again", async ({ expect }) => {
    const upstream = await wanting();
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const { elicitationId: _, ...params } = page;
    expect(asked.inputRequests).toEqual({ r1: { method: "elicitation/create", params } });
    expect((await client.retry(asked, { r1: { action: "accept" } })).result).toBeDefined();
    const calls = await upstream.sent("tools/call");
    expect(calls.map(({ body }) => body?.params)).toEqual([
      { name: "work", arguments: {} },
      { name: "work", arguments: {} },
    ]);
    // Servers tell by their session who was there.
    expect(new Set(calls.map(sessionOf)).size).toBe(1);
  });

  test("is not called again for a client that did not visit the page, or with other arguments", async ({
    expect,
  }) => {
    const upstream = await wanting();
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const declined = await client.retry(asked, { r1: { action: "decline" } });
    expect(declined.error).toMatchObject({ code: -32603 });
    const { requestState } = asked;
    const other = await client.call({ requestState, arguments: { other: 1 } });
    expect(other.error).toMatchObject({ code: -32602 });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("is an error for a client that cannot open pages", async ({ expect }) => {
    const upstream = await wanting();
    const { error: answer } = await new BridgeClient(upstream).call({}, { capabilities: {} });
    expect(answer).toMatchObject({ code: -32603, message: "Visit" });
  });
});
