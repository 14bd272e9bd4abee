/**
 * The platform takes the memory of a session's object away at any time; what the client sees must
 * not change.
 */

import { abortAllDurableObjects } from "cloudflare:test";
import { describe, test } from "vitest";

import { initializeMessage, post, Session } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import { evict, WAYS_TO_LOSE } from "../session-object.ts";
import { ANSWER, event, methodOf, progress, sessionOf, streamOf, Upstream } from "../upstream.ts";

const TOKEN = { _meta: { progressToken: "p" } } as const;

function note(n: number): { method: string; params: { n: number } } {
  return { method: "notifications/n", params: { n } };
}

describe.for(WAYS_TO_LOSE)("a session whose object $name", ({ lose }) => {
  test("right after initialize is served", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await post(upstream.mcp, initializeMessage("2025-06-18"));
    const id = response.headers.get("mcp-session-id") ?? "";
    await response.text();
    await lose({ id });
    const headers = { "Mcp-Session-Id": id };
    const accepted = await post(
      upstream.mcp,
      { jsonrpc: "2.0", method: "notifications/initialized" },
      headers,
    );
    expect(accepted.status).toBe(202);
    await lose({ id });
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "work" } };
    expect(await responseIn(await post(upstream.mcp, call, headers))).toHaveProperty("result");
    expect(await upstream.sessions()).toHaveLength(1);
  });

  test("between calls continues with the same session at the upstream", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
    for (let n = 0; n < 3; n++) {
      await lose(session);
      expect(await responseIn(await session.callTool())).toHaveProperty("result");
    }
    const log = await upstream.used();
    expect(log.map(methodOf)).toEqual([
      "initialize",
      "notifications/initialized",
      "tools/call",
      "tools/call",
      "tools/call",
    ]);
    for (const record of log.slice(1)) {
      expect(sessionOf(record)).toBe(log[0]?.opened);
      expect(record.headers["mcp-protocol-version"]).toBe("2025-06-18");
    }
    const ids = log.map(({ body }) => body?.id).filter((id) => id !== undefined);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.for(["2025-03-26", "2025-06-18", "2025-11-25"])(
    "keeps its revision %s",
    async (revision, { expect }) => {
      const upstream = await Upstream.take({
        server: "legacy",
        reactions: { "tools/call": [streamOf(event(progress(1)), event(ANSWER))] },
      });
      const session = await Session.open(upstream.mcp, { revision });
      await lose(session);
      const batch = await session.post([{ id: 1, method: "ping" }]);
      expect(batch.status).toBe(revision === "2025-03-26" ? 200 : 400);
      await batch.text();
      const events = await new EventReader(await session.callTool("work", TOKEN)).rest();
      expect(events.some(({ data }) => data === "")).toBe(revision === "2025-11-25");
    },
  );

  test("and whose upstream has forgotten it too is opened again at the upstream", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp, { capabilities: { sampling: {} } });
    await responseIn(await session.request("logging/setLevel", { level: "error" }));
    await lose(session);
    await upstream.forget();
    const before = (await upstream.log()).length;
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    const after = (await upstream.log()).slice(before);
    expect(after.map(({ body }) => [body?.method, body?.params?.["level"]])).toEqual([
      ["tools/call", undefined],
      ["initialize", undefined],
      ["notifications/initialized", undefined],
      ["logging/setLevel", "error"],
      ["tools/call", undefined],
    ]);
    expect(after[1]?.body?.params).toMatchObject({ capabilities: { sampling: {} } });
    await lose(session);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    expect(await upstream.sessions()).toHaveLength(2);
  });

  test("resumes the stream of an earlier call from any event", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(event(progress(1)), event(progress(2)), event(ANSWER))],
      },
    });
    const session = await Session.open(upstream.mcp);
    const seen = await new EventReader(await session.callTool("work", TOKEN, "mine")).rest();
    expect(seen).toHaveLength(4);
    for (const [index, { id = "" }] of seen.slice(0, -1).entries()) {
      await lose(session);
      const again = await messagesOf(await session.get({ "Last-Event-ID": id }));
      const missed = seen.slice(index + 1).map(({ data }): unknown => JSON.parse(data));
      expect(again).toEqual(missed);
    }
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("never confuses the event ids of its lives", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [{ ...streamOf(event(progress(1)), event(ANSWER)), isLasting: true }],
      },
    });
    const session = await Session.open(upstream.mcp);
    const ids: unknown[] = [];
    for (let life = 0; life < 3; life++) {
      const call = new EventReader(await session.callTool("work", TOKEN));
      for (const { id } of await call.rest()) ids.push(id);
      await lose(session);
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(9);
  });
});

describe("a session whose object is lost", () => {
  test("at an upstream of HTTP+SSE opens its stream again", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "sse" });
    const session = await Session.open(upstream.mcp);
    await responseIn(await session.request("logging/setLevel", { level: "info" }));
    await abortAllDurableObjects();
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    expect(await upstream.sessions()).toHaveLength(2);
    expect(await upstream.sent("logging/setLevel")).toHaveLength(2);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("with a GET stream gets later messages on the next one", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const first = await session.listen();
    await upstream.send(note(1));
    await first.next();
    const seen = await first.next();
    await first.cancel();
    await abortAllDurableObjects();
    const before = (await upstream.sent("GET")).length;
    const again = await session.listen(seen?.id);
    await upstream.receives("GET", before + 1);
    await upstream.send(note(2));
    expect(await again.message()).toMatchObject(note(2));
    await again.cancel();
    expect(await upstream.sessions()).toHaveLength(1);
  });
});

describe("an object is let go at once", () => {
  test.for([
    {
      name: "a notification",
      act: (session: Session) => session.notify("notifications/roots/list_changed"),
    },
    {
      name: "an answer",
      act: (session: Session) => session.answer("nobody-asked", { result: {} }),
    },
    {
      name: "a call",
      act: async (session: Session) => void (await responseIn(await session.callTool())),
    },
  ])("after $name: nothing is left running", async ({ act }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await post(upstream.mcp, initializeMessage());
    await response.text();
    const session = Session.of(upstream.mcp, response);
    await act(session);
    await evict(session);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
  });
});
