/** Legacy sessions: how they open, what they answer with, whom they know, how they end. */

import { describe, test, vi } from "vitest";

import { SessionObject } from "../../../durable-objects/session-object.ts";
import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import { initializeMessage, LATEST_LEGACY, MODERN, post, send, Session } from "../client.ts";
import { messagesOf, responseIn } from "../event-reader.ts";
import {
  ANSWER,
  event,
  jsonOf,
  methodOf,
  RESULT,
  STREAMED,
  streamOf,
  Upstream,
} from "../upstream.ts";

const REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25"] as const;
const PING = { jsonrpc: "2.0", id: 5, method: "ping" } as const;
const NOTICE = { jsonrpc: "2.0", method: "notifications/roots/list_changed" } as const;

describe("initialize", () => {
  test.for([
    ...["2024-11-05", ...REVISIONS].map((revision) => ({ asked: revision, agreed: revision })),
    { asked: MODERN, agreed: LATEST_LEGACY },
    { asked: "1999-12-31", agreed: LATEST_LEGACY },
  ])("that asks for $asked agrees on $agreed", async ({ asked, agreed }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await post(upstream.mcp, initializeMessage(asked, { roots: {} }, "init"));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    const id = response.headers.get("mcp-session-id");
    expect(id).toMatch(/^[\x21-\x7e]{32,}$/);
    expect(id).not.toContain(upstream.slug);
    expect(await responseIn(response)).toMatchObject({
      id: "init",
      result: {
        protocolVersion: agreed,
        serverInfo: { name: "scripted" },
        instructions: "Do as the script says.",
      },
    });
    const [initialize] = await upstream.sent("initialize");
    expect(initialize?.body?.params).toMatchObject({
      protocolVersion: agreed,
      capabilities: { roots: {} },
      clientInfo: { name: "integration" },
    });
  });

  test("uses the client's revision although the upstream uses another", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", revision: "2025-03-26" });
    const session = await Session.inUse(upstream.mcp, { revision: "2025-11-25" });
    expect(session.opening?.result).toMatchObject({ protocolVersion: "2025-11-25" });
    const [initialized] = await upstream.sent("notifications/initialized");
    expect(initialized?.headers["mcp-protocol-version"]).toBe("2025-03-26");
  });

  test.for([
    { name: "no params", params: undefined },
    {
      name: "no protocolVersion",
      params: { capabilities: {}, clientInfo: { name: "x", version: "1" } },
    },
    {
      name: "no capabilities",
      params: { protocolVersion: LATEST_LEGACY, clientInfo: { name: "x", version: "1" } },
    },
    { name: "no clientInfo", params: { protocolVersion: LATEST_LEGACY, capabilities: {} } },
  ])("with $name is refused and opens nothing", async ({ params }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await post(upstream.mcp, {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params,
    });
    expect(response.headers.has("mcp-session-id")).toBe(false);
    expect(await responseIn(response)).toMatchObject({ id: 0, error: { code: -32602 } });
    expect(await upstream.log()).toHaveLength(0);
  });

  test("that fails at the upstream opens no session", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { initialize: [{ status: 503 }] },
    });
    const response = await post(upstream.mcp, initializeMessage());
    expect(response.headers.has("mcp-session-id")).toBe(false);
    expect((await responseIn(response)).error?.data).toMatchObject({
      upstream: upstream.slug,
      reason: "unreachable",
    });
  });
});

describe("a session", () => {
  test("ends with DELETE, at the gateway and at the upstream", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const deleted = await session.delete();
    expect([deleted.status, await deleted.text()]).toEqual([200, ""]);
    expect((await upstream.used()).map(methodOf)).toEqual([
      "initialize",
      "notifications/initialized",
      "tools/list",
      "DELETE",
    ]);
    const before = (await upstream.log()).length;
    for (const response of [
      await session.request("ping"),
      await session.callTool(),
      await session.post({ method: "notifications/initialized" }),
      await post(upstream.mcp, initializeMessage(), session.headers),
      await session.get(),
      await session.delete(),
    ]) {
      expect(response.status).toBe(404);
      await response.text();
    }
    expect(await upstream.log()).toHaveLength(before);
  });

  test("that is unknown, forged, deleted, failed or of another route gets the same bytes", async ({
    expect,
  }) => {
    const [here, elsewhere] = [
      await Upstream.take({ server: "legacy" }),
      await Upstream.take({ server: "legacy" }),
    ];
    const deleted = await Session.open(here.mcp);
    await (await deleted.delete()).text();
    const other = await Session.open(elsewhere.mcp);
    const last = other.id.at(-1) === "0" ? "1" : "0";
    const ids = [
      "unknown",
      "0".repeat(64),
      deleted.id,
      other.id,
      other.id.slice(0, -1) + last,
      `${here.slug}-session-1`,
      "../../etc/passwd",
      "",
    ];
    const seen = new Set<string>();
    for (const id of ids) {
      const headers = { "Mcp-Session-Id": id };
      for (const response of [
        await post(here.mcp, PING, headers),
        await post(here.mcp, NOTICE, headers),
        await send(here.mcp, { headers: { ...headers, Accept: "text/event-stream" } }),
        await send(here.mcp, { method: "DELETE", headers }),
      ]) {
        seen.add(JSON.stringify([response.status, await response.text(), ...response.headers]));
      }
    }
    expect([...seen]).toHaveLength(1);
    expect([...seen][0]).toContain("404");
    expect(await responseIn(await other.callTool())).toHaveProperty("result");
  });
});

function call(id: unknown, name: string): Json {
  return { id, method: "tools/call", params: { name } };
}

describe("a batch", () => {
  test.for(["2024-11-05", ...REVISIONS])("in a session of %s", async (revision, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp, { revision });
    const response = await session.post([
      call(1, "a"),
      NOTICE,
      call("1", "b"),
      { id: 0, method: "ping" },
    ]);
    if (revision !== "2025-03-26") {
      expect(response.status).toBe(400);
      expect((await responseIn(response)).error?.code).toBe(-32600);
      expect(await upstream.sent("tools/call")).toHaveLength(0);
      return;
    }
    expect(response.status).toBe(200);
    const answers = (await messagesOf(response)).map(({ id, result }) => [id, result?.["content"]]);
    expect(answers).toHaveLength(3);
    expect(new Map(answers as [unknown, unknown][])).toEqual(
      new Map<unknown, unknown>([
        [1, [{ type: "text", text: "ran a" }]],
        ["1", [{ type: "text", text: "ran b" }]],
        [0, undefined],
      ]),
    );
    expect(await upstream.sent(NOTICE.method)).toHaveLength(1);
  });

  test("has an answer to each request where the session's object is lost first", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp, { revision: "2025-03-26" });
    const received = vi.spyOn(SessionObject.prototype, "receive").mockImplementation(() => {
      throw new Error("It is being restarted");
    });
    const response = await session.post([call(1, "a"), NOTICE, call("1", "b")]);
    received.mockRestore();
    const unknown = { error: { code: -32603 } };
    expect(await response.json()).toMatchObject([
      { id: 1, ...unknown },
      { id: "1", ...unknown },
    ]);
  });

  test("with one id twice is refused as a whole", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp, { revision: "2025-03-26" });
    const response = await session.post([PING, { ...PING, method: "tools/list" }]);
    expect(response.status).toBe(400);
    expect(await upstream.sent("tools/list")).toHaveLength(0);
  });
});

describe("an answer takes the form of", () => {
  const FORMS: readonly { name: string; reaction: Reaction; type: string }[] = [
    {
      name: "JSON when the upstream answers with JSON",
      reaction: jsonOf({ result: RESULT }),
      type: "application/json",
    },
    {
      name: "JSON when the upstream's stream begins with it",
      reaction: streamOf(event(ANSWER)),
      type: "application/json",
    },
    {
      name: "JSON when only its own event can be resumed",
      reaction: streamOf(event(ANSWER, { id: "e-1" })),
      type: "application/json",
    },
    {
      name: "a stream when something comes before it",
      reaction: STREAMED,
      type: "text/event-stream",
    },
    {
      name: "a stream when the upstream offers to be resumed",
      reaction: streamOf("id: e-1\ndata:\n\n", event(ANSWER)),
      type: "text/event-stream",
    },
  ];

  test.for(FORMS)("$name", async ({ reaction, type }, { expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [reaction] },
    });
    const session = await Session.open(upstream.mcp);
    const response = await session.callTool("work", {}, 0);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.has("mcp-session-id")).toBe(false);
    if (type === "text/event-stream") {
      expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
      expect(response.headers.get("x-accel-buffering")).toBe("no");
    }
    expect(await responseIn(response)).toEqual({ jsonrpc: "2.0", id: 0, result: RESULT });
  });
});
