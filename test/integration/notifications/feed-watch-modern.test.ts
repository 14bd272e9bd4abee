/** The watch on a modern server: `subscriptions/listen`, as servers answer it and as they should. */

import { afterEach, describe, test } from "vitest";

import type { Json, Reaction, Script } from "../../support/scripted-upstream-script.ts";
import { PATIENCE_MS, until } from "../bounded.ts";
import { WatchFixture, type WatchFixtureOptions } from "./watch-fixture.ts";
import { event, EVENT_STREAM, JSON_TYPE, jsonOf, streamOf, Upstream } from "../upstream.ts";

const LISTEN = "subscriptions/listen";
const ACK = "notifications/subscriptions/acknowledged";
const A = "uri:file:///a";
const B = "uri:file:///b";
const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

const ack = (notifications: Json): Json => ({ method: ACK, params: { notifications } });
const TOOLS_CHANGED: Json = { method: "notifications/tools/list_changed" };
const updated = (uri: string): Json => ({
  method: "notifications/resources/updated",
  params: { uri },
});
const standing = (...pieces: NonNullable<Reaction["pieces"]>): Reaction => ({
  ...streamOf(...pieces),
  end: "never",
});

let fixture: WatchFixture | undefined;
afterEach(async () => {
  await fixture?.leave();
});

async function begin(
  reactions: Script["reactions"] = {},
  options: WatchFixtureOptions = {},
): Promise<WatchFixture> {
  fixture = new WatchFixture(await Upstream.take({ server: "modern", reactions }), options);
  return fixture;
}

/** Of each listen, what it asked for, and whether it was closed from here. */
async function listens({
  upstream,
}: WatchFixture): Promise<readonly (readonly [unknown, boolean])[]> {
  return (await upstream.sent(LISTEN)).map(({ body, isCutOff }) => {
    const filter = body?.params?.["notifications"] as Json | undefined;
    return [filter?.["resourceSubscriptions"], isCutOff];
  });
}

describe("what is promised", () => {
  test("is what the server has acknowledged", async ({ expect }) => {
    const honoured = {
      promptsListChanged: true,
      resourceSubscriptions: ["file:///b", "file:///z"],
    };
    // The server stands by what it has left out, also when it is asked again without that.
    const reaction = { ...standing(event(ack(honoured))), isLasting: true } as const;
    const manager = await begin({ [LISTEN]: [reaction] });
    // A branch waits longer for a server that is watched already.
    await manager.add(0, "prompts");
    await until(
      () => manager.run(({ isWatching }) => isWatching || undefined),
      "the server to be watched",
    );
    expect(await manager.add(0, "tools", "prompts", A, B)).toEqual(["prompts", B]);
    const [, sent] = await manager.upstream.sent(LISTEN);
    expect(sent?.headers).toMatchObject({ "mcp-method": LISTEN });
    expect(sent?.body?.params).toMatchObject({
      notifications: { ...ALL, resourceSubscriptions: ["file:///a", "file:///b"] },
      _meta: {
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "edgeway" },
      },
    });
    await manager.run((held) => {
      expect([held.covers("tools"), held.covers("prompts")]).toEqual([false, true]);
      expect(held.wantedCount).toBe(2);
    });
  });

  test("is nothing of a server that has no such method, which is not asked again", async ({
    expect,
  }) => {
    const error = { code: -32601, message: "No." };
    const manager = await begin({ [LISTEN]: [jsonOf({ error }, 404), jsonOf({ error }, 404)] });
    expect(await manager.add(0, "tools", A)).toEqual([]);
    expect(await manager.add(1, "tools", "prompts", B)).toEqual([]);
    // Once with the resource, and once without.
    expect(await listens(manager)).toHaveLength(2);
    await manager.run((held) => {
      expect([held.wantedCount, held.isWanted, held.isWatching]).toEqual([0, true, false]);
      held.wake();
    });
    // The gateway announces what it detects itself all the same.
    await manager.run((held) => held.announce(["tools", "prompts"]));
    await manager.publishes(1, "tools", "prompts");
    expect(await listens(manager)).toHaveLength(2);
    await manager.remove(0, "tools");
    await manager.remove(1, "tools", "prompts");
    await manager.run((held) => expect(held.isWanted).toBe(false));
  });

  test("is nothing of a server that answers with a result and no acknowledgement", async ({
    expect,
  }) => {
    const result = { resultType: "complete" };
    const manager = await begin({ [LISTEN]: [{ ...jsonOf({ result }), isLasting: true }] });
    expect(await manager.add(0, "tools")).toEqual([]);
    expect(await listens(manager)).toHaveLength(1);
  });

  test("are the lists, where a server takes offence at the resources", async ({ expect }) => {
    const error = { code: -32602, message: "No." };
    const manager = await begin({ [LISTEN]: [jsonOf({ error }, 400)] });
    expect(await manager.add(0, "tools", A)).toEqual(["tools"]);
    await manager.upstream.send(TOOLS_CHANGED);
    await manager.publishes(0, "tools");
    expect(await listens(manager)).toEqual([
      [["file:///a"], false],
      [undefined, false],
    ]);
  });

  test.for([
    {
      name: "newline-delimited JSON",
      reaction: {
        headers: JSON_TYPE,
        pieces: [
          `${JSON.stringify({ jsonrpc: "2.0", ...ack(ALL) })}\n`,
          `${JSON.stringify({ jsonrpc: "2.0", ...TOOLS_CHANGED })}\n`,
        ],
        end: "never",
      } as const satisfies Reaction,
    },
    {
      name: "its id as a string",
      reaction: standing(
        event({
          method: ACK,
          params: {
            notifications: ALL,
            _meta: { "io.modelcontextprotocol/subscriptionId": "1" },
          },
        }),
        event(TOOLS_CHANGED),
      ),
    },
    {
      name: "a change before its acknowledgement",
      reaction: standing(event(TOOLS_CHANGED), event(ack(ALL))),
    },
  ])("is read from $name", async ({ reaction }, { expect }) => {
    const manager = await begin({ [LISTEN]: [reaction] });
    expect(await manager.add(0, "tools")).toEqual(["tools"]);
    await manager.publishes(0, "tools");
  });

  test("are the lists and no resource, where nothing is acknowledged; the stream is dropped", async ({
    expect,
  }) => {
    const manager = await begin({ [LISTEN]: [standing(": hello\n\n")] });
    expect(await manager.add(0, "tools", A)).toEqual(["tools"]);
    await expect
      .poll(() => listens(manager), { timeout: PATIENCE_MS })
      .toEqual([
        [["file:///a"], true],
        [undefined, false],
      ]);
    // Nobody could know whether they changed meanwhile.
    await manager.publishes(0, "tools");
  });

  test("is asked for again some minutes after the server has left it out", async ({ expect }) => {
    let passedMs = 0;
    const manager = await begin({}, { now: () => Date.now() + passedMs });
    expect(await manager.add(0, "tools", A)).toEqual(["tools", A]);
    await manager.upstream.script({
      server: "modern",
      reactions: { [LISTEN]: [standing(event(ack(ALL)))] },
    });
    await manager.upstream.hangUp();
    await manager.publishes(0, "tools");
    await manager.run((held) => held.wake());
    expect(await manager.upstream.sent(LISTEN)).toHaveLength(2);
    await until(async () => {
      passedMs += 300_000;
      await manager.run((held) => held.wake());
      return manager.publishedTo(0).includes(A) || undefined;
    }, "the resource to be announced");
    await manager.upstream.send(updated("file:///a"));
    await manager.publishes(0, A);
  });

  test("includes no resource with an endless name", async ({ expect }) => {
    const manager = await begin();
    const endless = `uri:file:///${"a".repeat(10_000)}` as const;
    expect(await manager.add(0, endless, A)).toEqual([A]);
    expect(await listens(manager)).toEqual([[["file:///a"], false]]);
  });
});

test("an acknowledgement may be as long as what it acknowledges", async ({ expect }) => {
  const manager = await begin({}, { target: { maxMessageChars: 2000 } });
  const topics = [...Array(500).keys()].map((n) => `uri:file:///${n}` as const);
  expect(await manager.add(0, ...topics)).toEqual(topics);
});

describe("when other resources are wanted", () => {
  test("the new stream is there before the old one is closed, and nothing is lost", async ({
    expect,
  }) => {
    const both = { ...ALL, resourceSubscriptions: ["file:///a", "file:///b"] };
    const late = event(updated("file:///b"));
    const manager = await begin();
    await manager.add(0, A, "tools");
    await manager.upstream.script({
      server: "modern",
      reactions: {
        [LISTEN]: [standing({ gate: "acknowledge" }, event(ack(both)), { gate: "late" }, late)],
      },
    });
    const adding = manager.add(1, B);
    await manager.upstream.receives(LISTEN, 2);
    expect((await listens(manager)).map(([, isCutOff]) => isCutOff)).toEqual([false, false]);
    await manager.upstream.send(updated("file:///a"));
    expect(await manager.publishes(0, A)).toEqual([A]);
    await manager.upstream.open("acknowledge");
    expect(await adding).toEqual([B]);
    await expect
      .poll(() => listens(manager), { timeout: PATIENCE_MS })
      .toEqual([
        [["file:///a"], true],
        [["file:///a", "file:///b"], false],
      ]);
    await manager.upstream.open("late");
    expect(await manager.publishes(1, B)).toEqual([B]);
    // Nothing was missed, so nothing was announced.
    expect(manager.publishedTo(0)).toEqual([]);
    const ids = (await manager.upstream.sent(LISTEN)).map(({ body }) => body?.id);
    expect(new Set(ids).size).toBe(2);
  });

  test("and the old stream breaks meanwhile, everything promised is announced", async ({
    expect,
  }) => {
    const both = { ...ALL, resourceSubscriptions: ["file:///a", "file:///b"] };
    const manager = await begin();
    await manager.add(0, A, "tools");
    await manager.upstream.script({
      server: "modern",
      reactions: { [LISTEN]: [standing({ gate: "acknowledge" }, event(ack(both)))] },
    });
    const adding = manager.add(1, B);
    await manager.upstream.receives(LISTEN, 2);
    await manager.upstream.hangUp();
    await manager.upstream.open("acknowledge");
    expect(await adding).toEqual([B]);
    expect((await manager.publishes(0, A, "tools")).toSorted()).toEqual(["tools", A]);
    expect(manager.publishedTo(1)).toEqual([]);
    expect(await listens(manager)).toHaveLength(2);
  });

  test.for([
    { name: "refused", reaction: jsonOf({ error: { code: -32602, message: "No." } }, 400) },
    { name: "broken", reaction: { status: 0 } },
  ])("and the new stream is $name, the old one stands", async ({ reaction }, { expect }) => {
    const manager = await begin();
    await manager.add(0, A, "tools");
    await manager.upstream.script({ server: "modern", reactions: { [LISTEN]: [reaction] } });
    expect(await manager.add(1, B)).toEqual([]);
    await manager.upstream.send(updated("file:///a"));
    expect(await manager.publishes(0, A)).toEqual([A]);
    // And they can be asked for again.
    expect(await manager.add(1, B)).toEqual([B]);
    await manager.upstream.send(updated("file:///b"));
    expect(await manager.publishes(1, B)).toEqual([B]);
    expect(manager.publishedTo(0)).toEqual([]);
  });

  test("by many at once, it takes few streams", async ({ expect }) => {
    const manager = await begin();
    await manager.add(0, "tools");
    const topics = [...Array(200).keys()].map((n) => `uri:file:///${n}` as const);
    const promised = await Promise.all(topics.map((topic, n) => manager.add(n % 32, topic)));
    expect(promised).toEqual(topics.map((topic) => [topic]));
    expect((await listens(manager)).length).toBeLessThan(20);
    await expect
      .poll(async () => (await listens(manager)).filter(([, isCutOff]) => !isCutOff).length, {
        timeout: PATIENCE_MS,
      })
      .toBe(1);
  });

  test("and the watch manager loses its memory in the middle of it, everything promised is announced", async ({
    expect,
  }) => {
    const manager = await begin();
    await manager.add(0, A, "tools");
    await manager.upstream.script({
      server: "modern",
      reactions: { [LISTEN]: [standing({ gate: "never" })] },
    });
    const adding = manager.add(1, B).catch(() => undefined);
    await manager.upstream.receives(LISTEN, 2);
    await manager.lose();
    await adding;
    // Whoever was not answered asks again.
    expect(await manager.add(1, B)).toEqual([B]);
    await manager.publishes(0, A, "tools");
    await manager.upstream.send(updated("file:///b"));
    await manager.publishes(1, B);
  });
});

describe("a stream that ends", () => {
  test("with a result is opened again, and everything promised is announced", async ({
    expect,
  }) => {
    const manager = await begin();
    await manager.add(0, A, "tools");
    const [open] = await manager.upstream.sent(LISTEN);
    await manager.upstream.send({ id: open?.body?.id, result: { resultType: "complete" } });
    await manager.publishes(0, A, "tools");
    await manager.upstream.send(updated("file:///a"));
    await manager.publishes(0, A);
    expect(await listens(manager)).toHaveLength(2);
  });

  test("in garbage is opened again", async ({ expect }) => {
    const manager = await begin();
    await manager.add(0, A, "tools");
    await manager.upstream.send({ jsonrpc: "1.0", nonsense: true });
    await manager.publishes(0, A, "tools");
    expect((await listens(manager)).map(([, isCutOff]) => isCutOff)).toEqual([true, false]);
  });

  test.for(["close", "reset"] as const)(
    "at once, each time (%s): the server is not hammered",
    async (end, { expect }) => {
      const brief: Reaction = { ...streamOf(event(ack(ALL))), end, isLasting: true };
      const manager = await begin({ [LISTEN]: [brief] });
      const startedAt = Date.now();
      await manager.add(0, "tools");
      await manager.upstream.receives(LISTEN, 4);
      // The pauses are of half a second, one, and two, less a half of each at most.
      expect(Date.now() - startedAt).toBeGreaterThan((500 + 1000 + 2000) / 2 - 50);
    },
  );
});

describe("a server that is not there", () => {
  test("has its lists promised, and everything is announced when it is back", async ({
    expect,
  }) => {
    const manager = await begin({ "server/discover": [{ status: 0, isLasting: true }] });
    expect(await manager.add(0, "tools", A)).toEqual(["tools"]);
    await manager.run((held) => {
      expect([held.isWatching, held.covers("tools"), held.wantedCount]).toEqual([false, false, 1]);
    });
    await manager.upstream.script({ server: "modern" });
    await manager.publishes(0, "tools");
    await manager.run((held) => expect(held.covers("tools")).toBe(true));
    expect(await manager.add(0, A)).toEqual([A]);
  });

  test("is asked at once for a new subscriber, but not without end", async ({ expect }) => {
    const manager = await begin({ "server/discover": [{ status: 0, isLasting: true }] });
    for (let n = 0; n < 20; n++) await manager.add(n, "tools", A);
    expect((await manager.upstream.sent("server/discover")).length).toBeLessThan(8);
  });

  test("says nothing: no answer waits for it", async ({ expect }) => {
    const manager = await begin({ "server/discover": [{ heldBy: "never", isLasting: true }] });
    const startedAt = Date.now();
    expect(await manager.add(0, "tools", A)).toEqual(["tools"]);
    expect(Date.now() - startedAt).toBeLessThan(PATIENCE_MS);
  });

  test("keeps what was promised before, also to others", async ({ expect }) => {
    const manager = await begin();
    await manager.add(0, "tools", A);
    await manager.upstream.script({
      server: "modern",
      reactions: { [LISTEN]: [{ status: 503, isLasting: true }] },
    });
    await manager.upstream.hangUp();
    await until(
      () => manager.run((held) => (held.isWatching ? undefined : true)),
      "the watch to be lost",
    );
    expect(await manager.add(1, A, B, "prompts")).toEqual([A, "prompts"]);
    await manager.upstream.script({ server: "modern" });
    expect((await manager.publishes(1, A, "prompts")).toSorted()).toEqual(["prompts", A]);
  });

  test("and then announces nothing: everything is announced once, and then what the gateway finds out", async ({
    expect,
  }) => {
    const refusal = { ...jsonOf({ error: { code: -32601, message: "No." } }, 404) };
    const manager = await begin({ "server/discover": [{ status: 0 }, { status: 0 }] });
    expect(await manager.add(0, "tools")).toEqual(["tools"]);
    await manager.upstream.script({
      server: "modern",
      reactions: { [LISTEN]: [{ ...refusal, isLasting: true }] },
    });
    await manager.publishes(0, "tools");
    await manager.run((held) => {
      expect([held.wantedCount, held.isWatching]).toEqual([1, false]);
      held.wake();
    });
    expect(await listens(manager)).toHaveLength(1);
    await manager.lose();
    // The next life asks once more, and finds what was promised to be refused.
    await manager.run((held) => held.wake());
    await manager.publishes(0, "tools");
    await manager.run((held) => held.announce(["tools"]));
    await manager.publishes(0, "tools");
    expect(await listens(manager)).toHaveLength(2);
  });
});

test("ten thousand updates hold back no notification of a change", async ({ expect }) => {
  const flood =
    event(updated("file:///a")).repeat(5000) + event(updated("file:///x/y")).repeat(5000);
  const both = { ...ALL, resourceSubscriptions: ["file:///a"] };
  const manager = await begin({
    [LISTEN]: [
      {
        headers: EVENT_STREAM,
        pieces: [event(ack(both)), flood, event(TOOLS_CHANGED)],
        end: "never",
      },
    ],
  });
  expect(await manager.add(0, "tools", A)).toEqual(["tools", A]);
  await until(
    () => Promise.resolve(manager.publishedTo(0).includes("tools") || undefined),
    "the tools",
  );
  expect(manager.publishedTo(0)).toContain(A);
  expect(manager.published.length).toBeLessThan(200);
});
