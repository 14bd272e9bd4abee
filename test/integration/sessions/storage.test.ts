/** What a session stores, for how long it is served, and what it leaves behind once it is over. */

import {
  abortAllDurableObjects,
  listDurableObjectIds,
  runDurableObjectAlarm,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { initializeMessage, post, Session } from "../client.ts";
import { messagesOf, responseIn } from "../event-reader.ts";
import {
  claimsOf,
  loggedIn,
  NOTHING,
  objectOf,
  sseSessionId,
  storedIn,
} from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import { ANSWER, event, jsonOf, methodOf, progress, streamOf, Upstream } from "../upstream.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const TOKEN = { _meta: { progressToken: "p" } } as const;

/** When the object of a session is to be gone for good. */
async function endOf(session: Session): Promise<number> {
  return (await claimsOf(session.id)).expiresAt * 1000;
}

describe("storage", () => {
  test("holds one key and an alarm, and a plain call writes nothing", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    await messagesOf(await session.callTool());
    const stored = { keys: ["session"], tables: [], alarm: await endOf(session) };
    expect(await storedIn(session)).toEqual(stored);
    for (let n = 0; n < 5; n++) await messagesOf(await session.callTool());
    expect(await storedIn(session)).toEqual(stored);
  });

  test("gets a table with the first event that is logged, and loses its rows after their retention", async ({
    expect,
  }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(progress(1)), event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp);
    await messagesOf(await session.callTool("work", TOKEN));
    const { keys, tables, alarm } = await storedIn(session);
    expect({ keys, tables }).toEqual({ keys: ["session"], tables: ["events_1"] });
    // What opened the stream, the progress, and the answer.
    expect(await loggedIn(session)).toBe(3);
    expect(alarm).toBeGreaterThan(Date.now() + 59 * MINUTE_MS);
    expect(alarm).toBeLessThanOrEqual(Date.now() + 60 * MINUTE_MS);
    vi.setSystemTime(Date.now() + 61 * MINUTE_MS);
    expect(await runDurableObjectAlarm(await objectOf(session))).toBe(true);
    expect(await loggedIn(session)).toBe(0);
    expect(await storedIn(session)).toMatchObject({ alarm: await endOf(session) });
    vi.useRealTimers();
  });

  test("is not touched by initialize, ping and notifications/initialized", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const before = await listDurableObjectIds(env.SESSIONS);
    const session = await Session.open(upstream.mcp);
    expect(await responseIn(await session.request("ping"))).toMatchObject({ result: {} });
    expect(await listDurableObjectIds(env.SESSIONS)).toHaveLength(before.length);
  });

  test("keeps only a tombstone after DELETE, also when the object is woken again", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    await responseIn(await session.request("logging/setLevel", { level: "info" }));
    const tombstone = { keys: ["deleted"], tables: [], alarm: await endOf(session) };
    await (await session.delete()).text();
    expect(await storedIn(session)).toEqual(tombstone);
    await abortAllDurableObjects();
    expect((await session.callTool()).status).toBe(404);
    expect(await storedIn(session)).toEqual(tombstone);
  });

  test("is empty after an initialize that failed", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { initialize: [{ status: 503 }] },
    });
    const before = await listDurableObjectIds(env.SESSIONS);
    await (await post(upstream.mcp, initializeMessage())).text();
    expect(await listDurableObjectIds(env.SESSIONS)).toHaveLength(before.length);
  });

  test("of a session of HTTP+SSE is one key from the start, and nothing at its end", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const connected = await SseSession.connect(upstream.sse);
    const unused = { id: sseSessionId(connected) };
    expect(await storedIn(unused)).toMatchObject({ keys: ["session"], tables: [] });
    await connected.stream.cancel();
    const session = await SseSession.open(upstream.sse);
    await session.request("logging/setLevel", { level: "info" });
    const used = { id: sseSessionId(session) };
    expect(await storedIn(used)).toMatchObject({ keys: ["session"], tables: ["events_1"] });
    await session.stream.cancel();
    for (const gone of [unused, used]) {
      await expect.poll(() => storedIn(gone), { timeout: 20_000 }).toEqual(NOTHING);
    }
  });

  test("is empty after DELETE in the middle of a repair, and so is the upstream", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
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
    const before = (await upstream.sent("initialize")).length;
    const pending = session.callTool();
    await upstream.receives("initialize", before + 1);
    await (await session.delete()).text();
    await upstream.open("repair");
    await (await pending).text();
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    // The repaired session belongs to nobody: it is closed, and nothing of it is kept.
    await expect.poll(async () => (await storedIn(session)).keys).toEqual(["deleted"]);
    await expect
      .poll(async () =>
        (await upstream.sent("DELETE")).map(({ headers }) => headers["mcp-session-id"]),
      )
      .toContain("second");
    expect((await storedIn(session)).keys).toEqual(["deleted"]);
  });
});

describe("a session that nobody uses", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("for months keeps its id and its session at the upstream", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    for (let month = 0; month < 11; month++) {
      vi.setSystemTime(Date.now() + 30 * DAY_MS);
      await runDurableObjectAlarm(await objectOf(session));
      await abortAllDurableObjects();
    }
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    expect(await upstream.sessions()).toHaveLength(1);
  });

  test("and was never used is served months after its initialize", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    vi.setSystemTime(Date.now() + 300 * DAY_MS);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
  });

  test("is over when its id expires, and its object is emptied by the alarm", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const end = await endOf(session);
    expect(end).toBeGreaterThan(Date.now() + 364 * DAY_MS);
    vi.setSystemTime(end - 2000);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    vi.setSystemTime(end);
    const response = await session.callTool();
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining("Session not found"),
    ]);
    await abortAllDurableObjects();
    expect(await runDurableObjectAlarm(await objectOf(session))).toBe(true);
    expect(await storedIn(session)).toEqual(NOTHING);
    expect((await upstream.used()).map(methodOf).at(-1)).toBe("DELETE");
  });

  test("after DELETE never returns; its tombstone is deleted when the id would have expired", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const end = await endOf(session);
    await (await session.delete()).text();
    for (let month = 0; month < 12; month++) {
      await abortAllDurableObjects();
      for (const response of [
        await session.callTool(),
        await session.get(),
        await session.delete(),
      ]) {
        expect([response.status, await response.text()]).toEqual([
          404,
          expect.stringContaining("Session not found"),
        ]);
      }
      expect((await storedIn(session)).keys).toEqual(["deleted"]);
      vi.setSystemTime(Date.now() + 30 * DAY_MS);
    }
    vi.setSystemTime(end);
    expect(await runDurableObjectAlarm(await objectOf(session))).toBe(true);
    expect(await storedIn(session)).toEqual(NOTHING);
    expect((await session.callTool()).status).toBe(404);
    expect(await upstream.sent("tools/call")).toHaveLength(0);
  });

  test("but listens gets messages on the same stream before and after its log is emptied", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const stream = await session.listen();
    for (const n of [1, 2]) {
      await upstream.send({ method: "notifications/n", params: { n } });
      expect(await stream.message()).toMatchObject({ params: { n } });
      vi.setSystemTime(Date.now() + 61 * MINUTE_MS);
      await runDurableObjectAlarm(await objectOf(session));
    }
    await stream.cancel();
  });
});
