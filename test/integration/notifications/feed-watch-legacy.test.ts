/** The watch on a legacy server: a session of the gateway's own, its GET stream, and subscriptions. */

import { afterEach, describe, test } from "vitest";

import type { Json, Script } from "../../support/scripted-upstream-script.ts";
import { PATIENCE_MS, until } from "../bounded.ts";
import { WatchFixture, type WatchFixtureOptions } from "./watch-fixture.ts";
import {
  event,
  EVENT_STREAM,
  jsonOf,
  methodOf,
  sessionOf,
  streamOf,
  Upstream,
} from "../upstream.ts";

const A = "uri:file:///a";
const B = "uri:file:///b";
const SUBSCRIBE = "resources/subscribe";
const TOOLS_CHANGED: Json = { method: "notifications/tools/list_changed" };
const updated = (uri: string): Json => ({
  method: "notifications/resources/updated",
  params: { uri },
});

let fixture: WatchFixture | undefined;
afterEach(async () => {
  await fixture?.leave();
});

async function begin(
  script: Partial<Script> = {},
  options: WatchFixtureOptions = {},
): Promise<WatchFixture> {
  fixture = new WatchFixture(await Upstream.take({ server: "legacy", ...script }), options);
  return fixture;
}

describe("the session", () => {
  test("is the gateway's own, without any capabilities", async ({ expect }) => {
    const manager = await begin();
    await manager.add(0, A);
    const log = await manager.upstream.log();
    expect(log.map(methodOf)).toEqual([
      "server/discover",
      "initialize",
      "notifications/initialized",
      "GET",
      SUBSCRIBE,
    ]);
    expect(log[1]?.body?.params).toMatchObject({
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "edgeway" },
    });
  });

  test("is opened without a probe where the operator says what the server is", async ({
    expect,
  }) => {
    const manager = await begin({}, { target: { era: "legacy" } });
    expect(await manager.add(0, "tools")).toEqual(["tools"]);
    expect(await manager.upstream.sent("server/discover")).toEqual([]);
  });

  test.for([
    { found: "by its stream", find: (manager: WatchFixture) => manager.upstream.hangUp() },
    {
      found: "by another subscription",
      find: async (manager: WatchFixture) => void (await manager.add(2, B)),
    },
  ])("that is forgotten is opened again, which is found $found", async ({ find }, { expect }) => {
    const manager = await begin();
    const topics = [...Array(50).keys()].map((n) => `uri:file:///${n}` as const);
    await manager.add(0, "tools", ...topics);
    await manager.upstream.forget();
    await find(manager);
    await manager.publishes(0, "tools", ...topics);
    const [first, second] = await manager.upstream.sessions();
    expect(await manager.upstream.sessions()).toHaveLength(2);
    const subscribed = async (session: string | undefined): Promise<number> =>
      (await manager.upstream.sent(SUBSCRIBE)).filter(
        (sent) => sessionOf(sent) === session && sent.status === 200,
      ).length;
    expect([await subscribed(first), await subscribed(second)]).toEqual([50, 50]);
    await manager.upstream.send(updated("file:///7"));
    await manager.publishes(0, "uri:file:///7");
  });
});

describe("what is promised", () => {
  test.for([
    { name: "405", reaction: { status: 405 } },
    { name: "400", reaction: jsonOf({ error: { code: -32600, message: "No." } }, 400) },
    { name: "a page", reaction: { headers: { "Content-Type": "text/html" }, pieces: ["<p>"] } },
  ])("is nothing where GET is answered with $name", async ({ reaction }, { expect }) => {
    const manager = await begin({ reactions: { GET: [{ ...reaction, isLasting: true }] } });
    expect(await manager.add(0, "tools", A)).toEqual([]);
    expect(await manager.add(1, "prompts", A)).toEqual([]);
    await manager.upstream.receives("DELETE");
    expect(await manager.upstream.sent("initialize")).toHaveLength(1);
    expect(await manager.upstream.sent(SUBSCRIBE)).toEqual([]);
    await manager.run((held) => {
      expect([held.covers("tools"), held.wantedCount, held.isWatching]).toEqual([false, 0, false]);
    });
  });

  const CAPABILITIES: readonly {
    readonly capabilities: Json;
    readonly promised: readonly string[];
    readonly listens: number;
  }[] = [
    { capabilities: {}, promised: [], listens: 0 },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, promised: [], listens: 0 },
    { capabilities: { tools: { listChanged: true } }, promised: ["tools"], listens: 1 },
    { capabilities: { resources: { subscribe: true } }, promised: [A], listens: 1 },
    {
      capabilities: { resources: { listChanged: true }, prompts: { listChanged: "yes" } },
      promised: ["resources"],
      listens: 1,
    },
  ];
  test.for(CAPABILITIES)(
    "is what the server says it can: $promised",
    async ({ capabilities, promised, listens }, { expect }) => {
      const manager = await begin({ capabilities });
      expect(await manager.add(0, "tools", "prompts", "resources", A)).toEqual(promised);
      expect(await manager.upstream.sent("GET")).toHaveLength(listens);
      await manager.run((held) => expect(held.wantedCount).toBe(promised.length));
    },
  );

  test("is no resource that the server refuses, and it can be asked again", async ({ expect }) => {
    const refusal = jsonOf({ error: { code: -32602, message: "No." } });
    const manager = await begin({ reactions: { [SUBSCRIBE]: [refusal] } });
    expect(await manager.add(0, A, B)).toEqual([B]);
    expect(await manager.add(0, A)).toEqual([A]);
    expect(
      (await manager.upstream.sent(SUBSCRIBE)).map(({ body }) => body?.params?.["uri"]),
    ).toEqual(["file:///a", "file:///b", "file:///a"]);
  });

  test("is kept when the server does not answer while it is subscribed to again", async ({
    expect,
  }) => {
    const manager = await begin();
    await manager.add(0, A);
    await manager.upstream.script({
      server: "legacy",
      reactions: { [SUBSCRIBE]: [{ status: 503 }, { status: 503 }] },
    });
    await manager.upstream.forget();
    await manager.upstream.hangUp();
    await manager.upstream.receives(SUBSCRIBE, 2);
    // Each ring of the alarm asks for it again.
    await until(async () => {
      await manager.run((held) => held.wake());
      return manager.publishedTo(0).includes(A) || undefined;
    }, "the resource to be announced");
    await manager.upstream.send(updated("file:///a"));
    await manager.publishes(0, A);
    expect(await manager.upstream.sessions()).toHaveLength(2);
  });

  test("is kept when it is asked for again while the server does not answer", async ({
    expect,
  }) => {
    const manager = await begin();
    await manager.add(0, A);
    await manager.upstream.script({
      server: "legacy",
      reactions: { [SUBSCRIBE]: [{ status: 503 }] },
    });
    await manager.upstream.forget();
    await manager.upstream.hangUp();
    await manager.upstream.receives(SUBSCRIBE, 2);
    // A session has come back, and its branch has restarted.
    expect(await manager.add(0, A)).toEqual([A]);
    await until(async () => {
      await manager.run((held) => held.wake());
      return manager.publishedTo(0).includes(A) || undefined;
    }, "the resource to be announced");
  });

  test("is asked for again some minutes after the server has refused it", async ({ expect }) => {
    let passedMs = 0;
    const manager = await begin({}, { now: () => Date.now() + passedMs });
    expect(await manager.add(0, A)).toEqual([A]);
    const refusal = jsonOf({ error: { code: -32602, message: "No." } });
    await manager.upstream.script({ server: "legacy", reactions: { [SUBSCRIBE]: [refusal] } });
    await manager.upstream.forget();
    await manager.upstream.hangUp();
    await manager.upstream.receives(SUBSCRIBE, 2);
    await until(async () => {
      passedMs += 300_000;
      await manager.run((held) => held.wake());
      return manager.publishedTo(0).includes(A) || undefined;
    }, "the resource to be announced");
    await manager.upstream.send(updated("file:///a"));
    await manager.publishes(0, A);
    expect(await manager.upstream.sessions()).toHaveLength(2);
  });

  test("is asked for with few requests at a time", async ({ expect }) => {
    const held = { ...jsonOf({ result: {} }), heldBy: "answers" };
    const manager = await begin({
      reactions: { [SUBSCRIBE]: Array.from({ length: 40 }, () => held) },
    });
    const topics = [...Array(40).keys()].map((n) => `uri:file:///${n}` as const);
    const adding = manager.add(0, ...topics);
    await manager.upstream.receives(SUBSCRIBE, 4);
    // Who wants to hear of something else does not wait for these.
    expect(await manager.add(1, "tools")).toEqual(["tools"]);
    expect(await manager.upstream.sent(SUBSCRIBE)).toHaveLength(4);
    await manager.upstream.open("answers");
    expect(await adding).toEqual(topics);
    expect(await manager.upstream.sent(SUBSCRIBE)).toHaveLength(40);
  });

  test("is subscribed to in another session after an end of it without an answer, which may come yet", async ({
    expect,
  }) => {
    const gone = { end: "reset", isLasting: true } as const;
    const manager = await begin({ reactions: { "resources/unsubscribe": [gone] } });
    await manager.add(0, A, B);
    await manager.remove(0, A);
    await manager.upstream.receives("resources/unsubscribe");
    const asked = async (): Promise<readonly unknown[]> => {
      const sent = await manager.upstream.receives(SUBSCRIBE);
      return sent.filter(({ body }) => body?.params?.["uri"] === "file:///a").map(sessionOf);
    };
    await expect
      .poll(
        async () => {
          await manager.add(0, A);
          return new Set(await asked()).size;
        },
        { timeout: PATIENCE_MS },
      )
      .toBe(2);
    await manager.upstream.receives("DELETE");
  });

  test("is nothing that was withdrawn before the server had answered", async ({ expect }) => {
    const held = { ...jsonOf({ result: {} }), heldBy: "answer" };
    const manager = await begin({ reactions: { [SUBSCRIBE]: [held] } });
    await manager.add(0, "tools");
    const adding = manager.add(0, A);
    await manager.upstream.receives(SUBSCRIBE);
    await manager.remove(0, A);
    expect(await adding).toEqual([]);
    await manager.upstream.open("answer");
    const [gone] = await manager.upstream.receives("resources/unsubscribe");
    expect(gone?.body?.params).toEqual({ uri: "file:///a" });
    await manager.run(({ wantedCount }) => expect(wantedCount).toBe(1));
  });
});

describe("the GET stream", () => {
  test("that goes on after its last event has missed nothing", async ({ expect }) => {
    const manager = await begin();
    await manager.add(0, "tools", A);
    await manager.upstream.send(TOOLS_CHANGED, "e-1");
    await manager.publishes(0, "tools");
    await manager.upstream.hangUp();
    const [, resumed] = await manager.upstream.receives("GET", 2);
    expect(resumed?.headers["last-event-id"]).toBe("e-1");
    await manager.upstream.send(updated("file:///a"), "e-2");
    expect(await manager.publishes(0, A)).toEqual([A]);
    expect(await manager.upstream.sessions()).toHaveLength(1);
  });

  test("that the server cannot continue may have missed anything", async ({ expect }) => {
    const unknown = jsonOf({ error: { code: -32600, message: "Unknown event" } }, 400);
    const manager = await begin();
    await manager.add(0, "tools", A);
    await manager.upstream.send(TOOLS_CHANGED, "e-1");
    await manager.publishes(0, "tools");
    await manager.upstream.script({ server: "legacy", reactions: { GET: [unknown] } });
    await manager.upstream.hangUp();
    await manager.publishes(0, "tools", A);
    const gets = await manager.upstream.receives("GET", 3);
    expect(gets.map(({ headers }) => headers["last-event-id"])).toEqual([
      undefined,
      "e-1",
      undefined,
    ]);
    expect(await manager.upstream.sent(SUBSCRIBE)).toHaveLength(1);
  });

  test("covers nothing while it is broken", async ({ expect }) => {
    const manager = await begin();
    await manager.add(0, "tools");
    await manager.upstream.script({
      server: "legacy",
      reactions: { GET: [{ heldBy: "open", headers: EVENT_STREAM, end: "never" }] },
    });
    await manager.upstream.hangUp();
    await manager.upstream.receives("GET", 2);
    await manager.run((held) =>
      expect([held.covers("tools"), held.isWatching]).toEqual([false, false]),
    );
    // Somebody else is promised the same: the gateway announces when it receives again.
    expect(await manager.add(1, "tools")).toEqual(["tools"]);
    await manager.upstream.open("open");
    await manager.publishes(1, "tools");
    await manager.run((held) =>
      expect([held.covers("tools"), held.isWatching]).toEqual([true, true]),
    );
  });

  test("that is gone one day may be back: what was promised is announced, and promised to nobody anew", async ({
    expect,
  }) => {
    const manager = await begin();
    await manager.add(0, "tools");
    await manager.upstream.script({
      server: "legacy",
      reactions: { GET: [{ status: 405, isLasting: true }] },
    });
    await manager.upstream.hangUp();
    await manager.publishes(0, "tools");
    await manager.run((held) => {
      expect([held.covers("tools"), held.isWatching, held.wantedCount]).toEqual([false, false, 1]);
    });
    expect(await manager.add(0, "tools")).toEqual([]);
    // Those to whom it was promised hear of it when it is back.
    await manager.run((held) => expect(held.wantedCount).toBe(1));
  });

  test("that asks to be polled without end is not", async ({ expect }) => {
    const brief = { ...streamOf("retry: 0\n\n"), isLasting: true } as const;
    const manager = await begin({ reactions: { GET: [brief] } });
    const startedAt = Date.now();
    expect(await manager.add(0, "tools")).toEqual(["tools"]);
    await manager.upstream.receives("GET", 6);
    expect(Date.now() - startedAt).toBeGreaterThan(500 - 50);
  });

  test("brings garbage: it is opened again", async ({ expect }) => {
    const manager = await begin();
    await manager.add(0, "tools", A);
    await manager.upstream.send({ jsonrpc: "1.0", nonsense: true });
    await manager.publishes(0, "tools", A);
    await manager.upstream.send(updated("file:///a"));
    await manager.publishes(0, A);
    expect(await manager.upstream.sessions()).toHaveLength(1);
  });
});

describe("a server that fails", () => {
  test("in the handshake is tried again, and everything is announced when it is back", async ({
    expect,
  }) => {
    const manager = await begin(
      { reactions: { initialize: [{ status: 503, isLasting: true }] } },
      { target: { era: "legacy" } },
    );
    expect(await manager.add(0, "tools", A)).toEqual(["tools"]);
    await manager.upstream.receives("initialize", 2);
    await manager.upstream.script({ server: "legacy" });
    await manager.publishes(0, "tools");
    expect(await manager.add(0, A)).toEqual([A]);
  });

  test("never opens its stream: no answer waits for it, and it is promised nothing", async ({
    expect,
  }) => {
    const manager = await begin({ reactions: { GET: [{ heldBy: "never", isLasting: true }] } });
    expect(await manager.add(0, "tools", A)).toEqual(["tools"]);
    await manager.run((held) =>
      expect([held.covers("tools"), held.isWatching]).toEqual([false, false]),
    );
  });

  test("and whose watch manager loses its memory in the middle of subscribing", async ({
    expect,
  }) => {
    const held = { ...jsonOf({ result: {} }), heldBy: "answer" };
    const manager = await begin();
    await manager.add(0, "tools", A);
    await manager.upstream.script({ server: "legacy", reactions: { [SUBSCRIBE]: [held] } });
    const adding = manager.add(1, B).catch(() => undefined);
    await manager.upstream.receives(SUBSCRIBE, 2);
    await manager.lose();
    await adding;
    expect(await manager.add(1, B)).toEqual([B]);
    await manager.publishes(0, "tools", A);
    await manager.upstream.send(updated("file:///b"));
    await manager.publishes(1, B);
  });
});

describe("HTTP+SSE", () => {
  const SSE: WatchFixtureOptions = { target: { transport: "sse" } };

  test("that is found out by refusal is watched too", async ({ expect }) => {
    const manager = await begin({ server: "sse" });
    expect(await manager.add(0, "tools", A)).toEqual(["tools", A]);
    await manager.upstream.send(updated("file:///a"));
    await manager.publishes(0, A);
  });

  test("whose stream broke is a new session, and everything is announced", async ({ expect }) => {
    const manager = await begin({ server: "sse" }, SSE);
    await manager.add(0, "tools", A);
    await manager.upstream.hangUp();
    await manager.publishes(0, "tools", A);
    const sessions = (await manager.upstream.sent(SUBSCRIBE)).map((sent) => sessionOf(sent));
    expect(new Set(sessions).size).toBe(2);
    await expect
      .poll(async () => (await manager.upstream.sent("GET")).length, { timeout: PATIENCE_MS })
      .toBe(2);
  });

  test("whose stream breaks right after the handshake is watched all the same", async ({
    expect,
  }) => {
    const reactions = {
      "notifications/initialized": [{ end: "close" }, { end: "close" }],
    } as const;
    const manager = await begin({ server: "sse", reactions }, SSE);
    await manager.add(0, "tools");
    // Whether the stream is found to be gone before it is listened to or after.
    await manager.upstream.receives("initialize", 3);
    await until(
      () => manager.run((held) => held.covers("tools") || undefined),
      "a watch that stands",
    );
    expect(await manager.upstream.sent("initialize")).toHaveLength(3);
  });

  test("that says nothing at all is not waited for", async ({ expect }) => {
    const silent = { headers: EVENT_STREAM, pieces: [event(TOOLS_CHANGED)], end: "never" } as const;
    const manager = await begin({ server: "sse", reactions: { GET: [silent] } }, SSE);
    expect(await manager.add(0, "tools", A)).toEqual(["tools"]);
  });
});
