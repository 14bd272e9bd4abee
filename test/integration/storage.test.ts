/** What a session stores, when it is let go, and what it leaves behind once it is over: nothing. */

import {
  abortAllDurableObjects,
  listDurableObjectIds,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, test, vi } from "vitest";

import type { SessionObject } from "../../durable-objects/session-object.ts";
import { initializeMessage, post, Session } from "./client.ts";
import { messagesOf, responseIn } from "./event-reader.ts";
import { SseSession } from "./sse-client.ts";
import { jsonOf, Upstream } from "./upstream.ts";

const DAY_MS = 86_400_000;

function objectOf(id: string): DurableObjectStub<SessionObject> {
  return env.SESSIONS.get(env.SESSIONS.idFromString(id));
}

/** Everything that an object has stored, and when its alarm rings. */
function storedIn(id: string): Promise<{ keys: string[]; alarm: number | null }> {
  return runInDurableObject(objectOf(id), async (_instance, { storage }) => ({
    keys: [...storage.kv.list()].map(([key]) => key),
    alarm: await storage.getAlarm(),
  }));
}

const NOTHING = { keys: [], alarm: null };

describe("storage", () => {
  test("holds four keys and an alarm, and a plain call writes nothing", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const { keys, alarm } = await storedIn(session.id);
    expect(keys.toSorted()).toEqual(["client", "lastUsed", "route", "upstream"]);
    expect(alarm).toBeGreaterThan(Date.now() + 29 * DAY_MS);
    const rows = (): Promise<number> =>
      runInDurableObject(
        objectOf(session.id),
        async (_instance, { storage }) => storage.sql.databaseSize,
      );
    const before = await rows();
    for (let n = 0; n < 5; n++) await messagesOf(await session.callTool());
    expect([await rows(), await storedIn(session.id)]).toEqual([before, { keys, alarm }]);
  });

  test("is empty after DELETE, and stays so when the object is woken again", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    await responseIn(await session.request("logging/setLevel", { level: "info" }));
    await (await session.delete()).text();
    expect(await storedIn(session.id)).toEqual(NOTHING);
    await abortAllDurableObjects();
    expect((await session.callTool()).status).toBe(404);
    expect(await storedIn(session.id)).toEqual(NOTHING);
  });

  test("is empty after an initialize that failed", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { initialize: [{ status: 503 }] },
    });
    const before = new Set((await listDurableObjectIds(env.SESSIONS)).map(String));
    await (await post(upstream.mcp, initializeMessage())).text();
    const left = (await listDurableObjectIds(env.SESSIONS))
      .map(String)
      .filter((id) => !before.has(id));
    for (const id of left) expect(await storedIn(id)).toEqual(NOTHING);
  });

  test("is never used by a session of HTTP+SSE", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await SseSession.open(upstream.sse);
    await session.request("logging/setLevel", { level: "info" });
    const id = new URL(session.endpoint, "http://x").searchParams.get("sessionId") ?? "";
    expect(await storedIn(id)).toEqual(NOTHING);
    await session.stream.cancel();
  });

  test("is empty after DELETE in the middle of a repair, and so is the upstream", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    await upstream.forget();
    const handshake = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      serverInfo: { name: "s", version: "1" },
    };
    const reopened = jsonOf({ result: handshake });
    const headers = { ...reopened.headers, "Mcp-Session-Id": "second" };
    await upstream.script({
      server: "legacy",
      reactions: { initialize: [{ ...reopened, headers, heldBy: "repair" }] },
    });
    const pending = session.callTool();
    await upstream.receives("initialize", 2);
    await (await session.delete()).text();
    await upstream.open("repair");
    await (await pending).text();
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    // The repaired session belongs to nobody: it is closed, and nothing of it is kept.
    await expect.poll(() => storedIn(session.id)).toEqual(NOTHING);
    await expect
      .poll(async () =>
        (await upstream.sent("DELETE")).map(({ headers }) => headers["mcp-session-id"]),
      )
      .toContain("second");
  });
});

describe("a session that nobody uses", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test("is let go after 30 days, there and at the upstream", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    vi.setSystemTime(Date.now() + 30 * DAY_MS + 1000);
    expect(await runDurableObjectAlarm(objectOf(session.id))).toBe(true);
    expect(await storedIn(session.id)).toEqual(NOTHING);
    const response = await session.callTool();
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("Session not found");
    expect(await upstream.sent("DELETE")).toHaveLength(1);
  });

  test("is let go though its object was evicted", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    await abortAllDurableObjects();
    vi.setSystemTime(Date.now() + 31 * DAY_MS);
    expect(await runDurableObjectAlarm(objectOf(session.id))).toBe(true);
    expect((await session.callTool()).status).toBe(404);
    expect(await storedIn(session.id)).toEqual(NOTHING);
    expect(await upstream.sent("DELETE")).toHaveLength(1);
  });

  test("is kept by one call in between, evicted or not", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const opened = Date.now();
    vi.setSystemTime(opened + 20 * DAY_MS);
    await abortAllDurableObjects();
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    await abortAllDurableObjects();
    vi.setSystemTime(opened + 31 * DAY_MS);
    await runDurableObjectAlarm(objectOf(session.id));
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    vi.setSystemTime(opened + 62 * DAY_MS);
    expect(await runDurableObjectAlarm(objectOf(session.id))).toBe(true);
    expect((await session.callTool()).status).toBe(404);
  });

  test("is kept by a GET stream that it opens in between", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const opened = Date.now();
    vi.setSystemTime(opened + 20 * DAY_MS);
    const stream = await session.listen();
    vi.setSystemTime(opened + 31 * DAY_MS);
    await runDurableObjectAlarm(objectOf(session.id));
    expect((await session.callTool()).status).toBe(200);
    await stream.cancel();
  });

  test("is refused once its time is over, though the alarm is late", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    vi.setSystemTime(Date.now() + 40 * DAY_MS);
    expect((await session.callTool()).status).toBe(404);
  });
});
