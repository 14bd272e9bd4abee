/** The watch on a legacy server: a session of the gateway's own, its GET stream, and subscriptions. */

import { afterEach, describe, test } from "vitest";

import type { Json, Script } from "../../support/scripted-upstream-script.ts";
import { PATIENCE_MS, until } from "../bounded.ts";
import { DeskFixture, type BridgeServiceOptions } from "./watch-fixture.ts";
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

let fixture: DeskFixture | undefined;
afterEach(async () => {
  await fixture?.leave();
});

async function begin(
  script: Partial<Script> = {},
  options: BridgeServiceOptions = {},
): Promise<DeskFixture> {
  fixture = new DeskFixture(await Upstream.take({ server: "legacy", ...script }), options);
  return fixture;
}

describe("the session", () => {
  test("is the gateway's own, without any capabilities", async ({ expect }) => {
    const desk = await begin();
    await desk.add(0, A);
    const log = await desk.upstream.log();
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
    const desk = await begin({}, { target: { era: "legacy" } });
    expect(await desk.add(0, "tools")).toEqual(["tools"]);
    expect(await desk.upstream.sent("server/discover")).toEqual([]);
  });

  test.for([
    { found: "by its stream", find: (desk: DeskFixture) => desk.upstream.hangUp() },
    {
      found: "by another subscription",
      find: async (desk: DeskFixture) => void (await desk.add(2, B)),
    },
  ])("that is forgotten is opened again, which is found $found", async ({ find }, { expect }) => {
    const desk = await begin();
    const topics = [...Array(50).keys()].map((n) => `uri:file:///${n}` as const);
    await desk.add(0, "tools", ...topics);
    await desk.upstream.forget();
    await find(desk);
    await desk.tells(0, "tools", ...topics);
    const [first, second] = await desk.upstream.sessions();
    expect(await desk.upstream.sessions()).toHaveLength(2);
    const subscribed = async (session: string | undefined): Promise<number> =>
      (await desk.upstream.sent(SUBSCRIBE)).filter(
        (sent) => sessionOf(sent) === session && sent.status === 200,
      ).length;
    expect([await subscribed(first), await subscribed(second)]).toEqual([50, 50]);
    await desk.upstream.send(updated("file:///7"));
    await desk.tells(0, "uri:file:///7");
  });
});

describe("what is promised", () => {
  test.for([
    { name: "405", reaction: { status: 405 } },
    { name: "400", reaction: jsonOf({ error: { code: -32600, message: "No." } }, 400) },
    { name: "a page", reaction: { headers: { "Content-Type": "text/html" }, pieces: ["<p>"] } },
  ])("is nothing where GET is answered with $name", async ({ reaction }, { expect }) => {
    const desk = await begin({ reactions: { GET: [{ ...reaction, isLasting: true }] } });
    expect(await desk.add(0, "tools", A)).toEqual([]);
    expect(await desk.add(1, "prompts", A)).toEqual([]);
    await desk.upstream.receives("DELETE");
    expect(await desk.upstream.sent("initialize")).toHaveLength(1);
    expect(await desk.upstream.sent(SUBSCRIBE)).toEqual([]);
    await desk.run((held) => {
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
      const desk = await begin({ capabilities });
      expect(await desk.add(0, "tools", "prompts", "resources", A)).toEqual(promised);
      expect(await desk.upstream.sent("GET")).toHaveLength(listens);
      await desk.run((held) => expect(held.wantedCount).toBe(promised.length));
    },
  );

  test("is no resource that the server refuses, and it can be asked again", async ({ expect }) => {
    const refusal = jsonOf({ error: { code: -32602, message: "No." } });
    const desk = await begin({ reactions: { [SUBSCRIBE]: [refusal] } });
    expect(await desk.add(0, A, B)).toEqual([B]);
    expect(await desk.add(0, A)).toEqual([A]);
    expect((await desk.upstream.sent(SUBSCRIBE)).map(({ body }) => body?.params?.["uri"])).toEqual([
      "file:///a",
      "file:///b",
      "file:///a",
    ]);
  });

  test("is kept when the server does not answer while it is subscribed to anew", async ({
    expect,
  }) => {
    const desk = await begin();
    await desk.add(0, A);
    await desk.upstream.script({
      server: "legacy",
      reactions: { [SUBSCRIBE]: [{ status: 503 }, { status: 503 }] },
    });
    await desk.upstream.forget();
    await desk.upstream.hangUp();
    await desk.upstream.receives(SUBSCRIBE, 2);
    // Each ring of the alarm asks for it again.
    await until(async () => {
      await desk.run((held) => held.wake());
      return desk.toldTo(0).includes(A) || undefined;
    }, "the resource to be told");
    await desk.upstream.send(updated("file:///a"));
    await desk.tells(0, A);
    expect(await desk.upstream.sessions()).toHaveLength(2);
  });

  test("is asked for with few requests at a time", async ({ expect }) => {
    const held = { ...jsonOf({ result: {} }), heldBy: "answers" };
    const desk = await begin({
      reactions: { [SUBSCRIBE]: Array.from({ length: 40 }, () => held) },
    });
    const topics = [...Array(40).keys()].map((n) => `uri:file:///${n}` as const);
    const adding = desk.add(0, ...topics);
    await desk.upstream.receives(SUBSCRIBE, 4);
    // Who wants to hear of something else does not wait for these.
    expect(await desk.add(1, "tools")).toEqual(["tools"]);
    expect(await desk.upstream.sent(SUBSCRIBE)).toHaveLength(4);
    await desk.upstream.open("answers");
    expect(await adding).toEqual(topics);
    expect(await desk.upstream.sent(SUBSCRIBE)).toHaveLength(40);
  });

  test("is nothing that was taken back before the server had answered", async ({ expect }) => {
    const held = { ...jsonOf({ result: {} }), heldBy: "answer" };
    const desk = await begin({ reactions: { [SUBSCRIBE]: [held] } });
    await desk.add(0, "tools");
    const adding = desk.add(0, A);
    await desk.upstream.receives(SUBSCRIBE);
    await desk.remove(0, A);
    expect(await adding).toEqual([]);
    await desk.upstream.open("answer");
    const [gone] = await desk.upstream.receives("resources/unsubscribe");
    expect(gone?.body?.params).toEqual({ uri: "file:///a" });
    await desk.run(({ wantedCount }) => expect(wantedCount).toBe(1));
  });
});

describe("the GET stream", () => {
  test("that goes on after its last event has missed nothing", async ({ expect }) => {
    const desk = await begin();
    await desk.add(0, "tools", A);
    await desk.upstream.send(TOOLS_CHANGED, "e-1");
    await desk.tells(0, "tools");
    await desk.upstream.hangUp();
    const [, resumed] = await desk.upstream.receives("GET", 2);
    expect(resumed?.headers["last-event-id"]).toBe("e-1");
    await desk.upstream.send(updated("file:///a"), "e-2");
    expect(await desk.tells(0, A)).toEqual([A]);
    expect(await desk.upstream.sessions()).toHaveLength(1);
  });

  test("that the server cannot continue may have missed anything", async ({ expect }) => {
    const unknown = jsonOf({ error: { code: -32600, message: "Unknown event" } }, 400);
    const desk = await begin();
    await desk.add(0, "tools", A);
    await desk.upstream.send(TOOLS_CHANGED, "e-1");
    await desk.tells(0, "tools");
    await desk.upstream.script({ server: "legacy", reactions: { GET: [unknown] } });
    await desk.upstream.hangUp();
    await desk.tells(0, "tools", A);
    const gets = await desk.upstream.receives("GET", 3);
    expect(gets.map(({ headers }) => headers["last-event-id"])).toEqual([
      undefined,
      "e-1",
      undefined,
    ]);
    expect(await desk.upstream.sent(SUBSCRIBE)).toHaveLength(1);
  });

  test("covers nothing while it is broken", async ({ expect }) => {
    const desk = await begin();
    await desk.add(0, "tools");
    await desk.upstream.script({
      server: "legacy",
      reactions: { GET: [{ heldBy: "open", headers: EVENT_STREAM, end: "never" }] },
    });
    await desk.upstream.hangUp();
    await desk.upstream.receives("GET", 2);
    await desk.run((held) =>
      expect([held.covers("tools"), held.isWatching]).toEqual([false, false]),
    );
    // Somebody else is promised the same: the gateway says when it can be heard again.
    expect(await desk.add(1, "tools")).toEqual(["tools"]);
    await desk.upstream.open("open");
    await desk.tells(1, "tools");
    await desk.run((held) => expect([held.covers("tools"), held.isWatching]).toEqual([true, true]));
  });

  test("that is gone one day ends what was promised of it", async ({ expect }) => {
    const desk = await begin();
    await desk.add(0, "tools");
    await desk.upstream.script({
      server: "legacy",
      reactions: { GET: [{ status: 405, isLasting: true }] },
    });
    await desk.upstream.hangUp();
    await desk.tells(0, "tools");
    await desk.run((held) => {
      expect([held.covers("tools"), held.isWatching, held.wantedCount]).toEqual([false, false, 0]);
    });
    expect(await desk.add(0, "tools")).toEqual([]);
  });

  test("that asks to be polled without end is not", async ({ expect }) => {
    const brief = { ...streamOf("retry: 0\n\n"), isLasting: true } as const;
    const desk = await begin({ reactions: { GET: [brief] } });
    const startedAt = Date.now();
    expect(await desk.add(0, "tools")).toEqual(["tools"]);
    await desk.upstream.receives("GET", 6);
    expect(Date.now() - startedAt).toBeGreaterThan(500 - 50);
  });

  test("brings garbage: it is opened again", async ({ expect }) => {
    const desk = await begin();
    await desk.add(0, "tools", A);
    await desk.upstream.send({ jsonrpc: "1.0", nonsense: true });
    await desk.tells(0, "tools", A);
    await desk.upstream.send(updated("file:///a"));
    await desk.tells(0, A);
    expect(await desk.upstream.sessions()).toHaveLength(1);
  });
});

describe("a server that fails", () => {
  test("in the handshake is tried again, and all is told when it is back", async ({ expect }) => {
    const desk = await begin(
      { reactions: { initialize: [{ status: 503, isLasting: true }] } },
      { target: { era: "legacy" } },
    );
    expect(await desk.add(0, "tools", A)).toEqual(["tools"]);
    await desk.upstream.receives("initialize", 2);
    await desk.upstream.script({ server: "legacy" });
    await desk.tells(0, "tools");
    expect(await desk.add(0, A)).toEqual([A]);
  });

  test("never opens its stream: nobody waits for it, and nothing is believed of it", async ({
    expect,
  }) => {
    const desk = await begin({ reactions: { GET: [{ heldBy: "never", isLasting: true }] } });
    expect(await desk.add(0, "tools", A)).toEqual(["tools"]);
    await desk.run((held) =>
      expect([held.covers("tools"), held.isWatching]).toEqual([false, false]),
    );
  });

  test("and whose desk loses its memory in the middle of subscribing", async ({ expect }) => {
    const held = { ...jsonOf({ result: {} }), heldBy: "answer" };
    const desk = await begin();
    await desk.add(0, "tools", A);
    await desk.upstream.script({ server: "legacy", reactions: { [SUBSCRIBE]: [held] } });
    const adding = desk.add(1, B).catch(() => undefined);
    await desk.upstream.receives(SUBSCRIBE, 2);
    await desk.lose();
    await adding;
    expect(await desk.add(1, B)).toEqual([B]);
    await desk.tells(0, "tools", A);
    await desk.upstream.send(updated("file:///b"));
    await desk.tells(1, B);
  });
});

describe("HTTP+SSE", () => {
  const SSE: BridgeServiceOptions = { target: { transport: "sse" } };

  test("that is found out by refusal is watched too", async ({ expect }) => {
    const desk = await begin({ server: "sse" });
    expect(await desk.add(0, "tools", A)).toEqual(["tools", A]);
    await desk.upstream.send(updated("file:///a"));
    await desk.tells(0, A);
  });

  test("whose stream broke is a new session, and all is told", async ({ expect }) => {
    const desk = await begin({ server: "sse" }, SSE);
    await desk.add(0, "tools", A);
    await desk.upstream.hangUp();
    await desk.tells(0, "tools", A);
    const sessions = (await desk.upstream.sent(SUBSCRIBE)).map((sent) => sessionOf(sent));
    expect(new Set(sessions).size).toBe(2);
    await expect
      .poll(async () => (await desk.upstream.sent("GET")).length, { timeout: PATIENCE_MS })
      .toBe(2);
  });

  test("whose stream breaks right after the handshake is watched all the same", async ({
    expect,
  }) => {
    const reactions = {
      "notifications/initialized": [{ end: "close" }, { end: "close" }],
    } as const;
    const desk = await begin({ server: "sse", reactions }, SSE);
    await desk.add(0, "tools");
    // Whether the stream is found to be gone before it is listened to or after.
    await desk.upstream.receives("initialize", 3);
    await until(() => desk.run((held) => held.covers("tools") || undefined), "a watch that stands");
    expect(await desk.upstream.sent("initialize")).toHaveLength(3);
  });

  test("that says nothing at all is not waited for", async ({ expect }) => {
    const silent = { headers: EVENT_STREAM, pieces: [event(TOOLS_CHANGED)], end: "never" } as const;
    const desk = await begin({ server: "sse", reactions: { GET: [silent] } }, SSE);
    expect(await desk.add(0, "tools", A)).toEqual(["tools"]);
  });
});
