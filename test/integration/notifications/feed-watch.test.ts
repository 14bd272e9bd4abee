/**
 * The one watch on a server, whatever its era and transport: all its subscribers share it, and it runs
 * as long as there is any.
 */

import { afterEach, describe, test } from "vitest";

import type { Script } from "../../support/scripted-upstream-script.ts";
import { PATIENCE_MS, until } from "../bounded.ts";
import { type WatchFixtureOptions, WatchFixture } from "./watch-fixture.ts";
import { methodOf, Upstream } from "../upstream.ts";

interface Kind {
  readonly server: Script["server"];
  readonly options?: WatchFixtureOptions;
  /** What reaches the server for a resource. */
  readonly asks: string;
  /** What is open as long as anything is wanted. */
  readonly stream: string;
}

const KINDS: readonly Kind[] = [
  { server: "legacy", asks: "resources/subscribe", stream: "GET" },
  {
    server: "sse",
    options: { target: { transport: "sse" } },
    asks: "resources/subscribe",
    stream: "GET",
  },
  { server: "modern", asks: "subscriptions/listen", stream: "subscriptions/listen" },
  { server: "dual", asks: "subscriptions/listen", stream: "subscriptions/listen" },
];

const A = "uri:file:///a";
const B = "uri:file:///b";
const TOOLS_CHANGED = { method: "notifications/tools/list_changed" } as const;
const updated = (uri: string): { method: string; params: { uri: string } } => ({
  method: "notifications/resources/updated",
  params: { uri },
});

let fixture: WatchFixture | undefined;
afterEach(async () => {
  await fixture?.leave();
});

async function begin(
  { server, options }: Kind,
  script: Partial<Script> = {},
): Promise<WatchFixture> {
  fixture = new WatchFixture(await Upstream.take({ server, ...script }), options);
  return fixture;
}

/** How many streams the server holds open for the gateway. */
async function openStreams({ upstream }: WatchFixture, { stream }: Kind): Promise<number> {
  return (await upstream.sent(stream)).filter(({ isCutOff }) => !isCutOff).length;
}

describe.for(KINDS)("a $server server", (kind) => {
  test("has one watch, whatever the number of branches", async ({ expect }) => {
    const manager = await begin(kind);
    expect(await manager.add(0, "tools", A)).toEqual(["tools", A]);
    const before = (await manager.upstream.log()).length;
    for (let branch = 1; branch < 8; branch++) {
      expect(await manager.add(branch, A, "tools")).toEqual([A, "tools"]);
    }
    expect((await manager.upstream.log()).slice(before).map(methodOf)).toEqual([]);
    expect(await openStreams(manager, kind)).toBe(1);
    await manager.upstream.send(updated("file:///a"));
    await until(
      () => Promise.resolve(manager.published.length >= 8 || undefined),
      "all to be notified",
    );
    expect(manager.published.map(({ branch }) => branch).toSorted((a, b) => a - b)).toEqual([
      ...Array(8).keys(),
    ]);
    for (const { news } of manager.published) {
      expect(news).toMatchObject({ slug: manager.upstream.slug, topics: [A] });
    }
    await manager.run(({ isWatching, wantedCount }) => {
      expect([isWatching, wantedCount]).toEqual([true, 2]);
    });
  });

  test("is asked for each resource once, and learns when no branch wants it", async ({
    expect,
  }) => {
    const manager = await begin(kind);
    await Promise.all([manager.add(0, A), manager.add(1, A), manager.add(2, A, B)]);
    await manager.add(0, B);
    const asked = async (uri: string): Promise<number> => {
      const sent = await manager.upstream.sent(kind.asks);
      const live = kind.asks === kind.stream ? sent.filter(({ isCutOff }) => !isCutOff) : sent;
      return live.filter(({ body }) => JSON.stringify(body?.params).includes(`"${uri}"`)).length;
    };
    expect([await asked("file:///a"), await asked("file:///b")]).toEqual([1, 1]);
    await manager.remove(0, A, B);
    await manager.remove(1, A);
    await manager.upstream.send(updated("file:///a"));
    expect(await manager.publishes(2, A)).toEqual([A]);
    await manager.remove(2, A);
    await manager.upstream.send(updated("file:///a"));
    await manager.upstream.send(updated("file:///b"));
    expect(await manager.publishes(2, B)).toEqual([B]);
    expect(manager.publishedTo(0)).toEqual([]);
    if (kind.asks === "resources/subscribe") {
      const [gone] = await manager.upstream.receives("resources/unsubscribe");
      expect(gone?.body?.params).toEqual({ uri: "file:///a" });
    } else {
      await expect.poll(() => asked("file:///a"), { timeout: PATIENCE_MS }).toBe(0);
    }
    expect(await openStreams(manager, kind)).toBe(1);
  });

  test("is left when no branch wants anything, and watched again", async ({ expect }) => {
    const manager = await begin(kind);
    await manager.add(0, "tools", A);
    await manager.add(1, "tools");
    await manager.remove(0, "tools", A);
    // Where a stream says what is wanted, the next one is open before it is closed.
    await expect.poll(() => openStreams(manager, kind), { timeout: PATIENCE_MS }).toBe(1);
    await manager.remove(1, "tools");
    await expect.poll(() => openStreams(manager, kind), { timeout: PATIENCE_MS }).toBe(0);
    if (kind.server === "legacy") await manager.upstream.receives("DELETE");
    await manager.run(({ isWatching, wantedCount }) => {
      expect([isWatching, wantedCount]).toEqual([false, 0]);
    });
    expect(await manager.add(3, "tools")).toEqual(["tools"]);
    await manager.upstream.send(TOOLS_CHANGED);
    expect(await manager.publishes(3, "tools")).toEqual(["tools"]);
    if (kind.asks !== "resources/subscribe") return;
    // Not every server has sessions that end.
    await manager.add(3, A, B);
    const before = (await manager.upstream.sent("resources/unsubscribe")).length;
    await manager.remove(3, "tools", A, B);
    const gone = await manager.upstream.receives("resources/unsubscribe", before + 2);
    const uris = gone.slice(before).map(({ body }) => body?.params?.["uri"]);
    expect(new Set(uris)).toEqual(new Set(["file:///a", "file:///b"]));
  });

  test("announces lists that no branch wants, and their cached content is outdated", async ({
    expect,
  }) => {
    const manager = await begin(kind);
    await manager.add(0, "prompts");
    await manager.run((held) => {
      expect(
        (["tools", "prompts", "resources", A] as const).map((topic) => held.covers(topic)),
      ).toEqual([true, true, true, false]);
    });
    // Whatever was read before the watch stood may have changed since.
    await until(() => Promise.resolve(manager.outdated.length > 0 || undefined), "the lists");
    expect(manager.outdated.splice(0)).toEqual([["tools", "prompts", "resources"]]);
    await manager.upstream.send(TOOLS_CHANGED);
    await until(() => Promise.resolve(manager.outdated.length > 0 || undefined), "the tools");
    expect(manager.outdated).toEqual([["tools"]]);
    expect(manager.published).toEqual([]);
  });

  test("publishes a burst of changes together, and the last change after it", async ({
    expect,
  }) => {
    const newsMilliseconds = 200;
    const manager = await begin({ ...kind, options: { ...kind.options, newsMilliseconds } });
    await manager.add(0, "tools", A, B);
    const startedAt = performance.now();
    for (let n = 0; n < 100; n++) {
      await manager.upstream.send(updated(`file:///${n % 2 === 0 ? "a" : "b"}`));
    }
    await manager.upstream.send(TOOLS_CHANGED);
    await until(
      () => Promise.resolve(manager.publishedTo(0).includes("tools") || undefined),
      "the last change to be announced",
    );
    // What came before it came before it, or with it.
    expect(manager.published.at(-1)?.news.topics).toContain("tools");
    const whiles = (performance.now() - startedAt) / newsMilliseconds;
    expect(manager.published.length).toBeLessThan(Math.min(whiles + 5, 100));
    for (const { news } of manager.published) {
      expect(new Set(news.topics).size).toBe(news.topics.length);
    }
  });

  test("numbers news in order, also when the watch manager has lost its memory", async ({
    expect,
  }) => {
    const manager = await begin(kind);
    const seqs: number[] = [];
    for (let life = 0; life < 3; life++) {
      await manager.add(0, "tools", A);
      await manager.upstream.send(TOOLS_CHANGED);
      await until(
        () => Promise.resolve(manager.publishedTo(0).includes("tools") || undefined),
        "the tools",
      );
      seqs.push(...manager.published.splice(0).map(({ news }) => news.seq));
      await manager.lose();
    }
    expect(seqs.length).toBeGreaterThanOrEqual(3);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    expect(seqs.every(Number.isSafeInteger)).toBe(true);
  });

  test("drops all else that a server says, and refuses what it asks", async ({ expect }) => {
    const manager = await begin(kind);
    await manager.add(0, "tools", A);
    const { upstream } = manager;
    await upstream.send({ method: "notifications/message", params: { level: "info", data: "x" } });
    await upstream.send({
      method: "notifications/progress",
      params: { progressToken: 1, progress: 1 },
    });
    await upstream.send({ method: "constructor" });
    await upstream.send({ method: "notifications/resources/updated", params: { uri: 7 } });
    await upstream.send(updated("file:///unwanted"));
    await upstream.send({ id: "q", method: "roots/list" });
    await upstream.send({ id: "p", method: "ping" });
    await upstream.send(TOOLS_CHANGED);
    expect(await manager.publishes(0, "tools")).toEqual(["tools"]);
    expect(manager.outdated.flat()).toEqual(["tools", "prompts", "resources", "tools"]);
    if (kind.asks === "subscriptions/listen") return;
    expect(await upstream.receivesAnswer("q")).toMatchObject({ error: { code: -32601 } });
    expect(await upstream.receivesAnswer("p")).toMatchObject({ result: {} });
  });

  test("that breaks the stream is watched again, and everything wanted is announced", async ({
    expect,
  }) => {
    const manager = await begin(kind);
    await manager.add(0, "tools", A);
    await manager.add(1, B);
    await manager.upstream.hangUp();
    await manager.publishes(0, "tools", A);
    await manager.upstream.send(updated("file:///b"));
    await manager.publishes(1, B);
    expect(await openStreams(manager, kind)).toBe(1);
  });

  test("is watched again when the watch manager has lost its memory, and everything is announced", async ({
    expect,
  }) => {
    const manager = await begin(kind);
    await manager.add(0, "tools", A);
    await manager.add(1, B, "prompts");
    await manager.add(1, A);
    await manager.remove(1, A);
    await manager.lose();
    // Whatever the object is woken for.
    await manager.run(() => undefined);
    await until(
      () =>
        Promise.resolve(
          (["tools", A].every((topic) => manager.publishedTo(0).includes(topic as typeof A)) &&
            ["prompts", B].every((topic) => manager.publishedTo(1).includes(topic as typeof B))) ||
            undefined,
        ),
      "both to be notified of all they want",
    );
    expect([...new Set(manager.publishedTo(0))].toSorted()).toEqual(["tools", A]);
    expect([...new Set(manager.publishedTo(1))].toSorted()).toEqual(["prompts", B]);
    await manager.upstream.send(updated("file:///b"));
    await manager.publishes(1, B);
    expect(await openStreams(manager, kind)).toBe(1);
  });

  test("is subscribed to a thousand resources, and to no more than there may be", async ({
    expect,
  }) => {
    const manager = await begin({ ...kind, options: { ...kind.options, maxUris: 1000 } });
    const topics = [...Array(1001).keys()].map((n) => `uri:file:///${n}` as const);
    for (let branch = 0; branch < 4; branch++) {
      // A branch has a quarter of them at most.
      const asked = topics.slice(250 * branch, 250 * branch + 251);
      expect(await manager.add(branch, ...asked)).toEqual(asked.slice(0, 250));
    }
    // Another branch may want what is wanted already.
    expect(await manager.add(4, "uri:file:///7", "uri:file:///1000")).toEqual(["uri:file:///7"]);
    await manager.upstream.send(updated("file:///999"));
    await manager.publishes(3, "uri:file:///999");
    await manager.upstream.send(updated("file:///7"));
    await manager.publishes(4, "uri:file:///7");
    await manager.remove(0, "uri:file:///3");
    expect(await manager.add(4, "uri:file:///1000")).toEqual(["uri:file:///1000"]);
  });

  test("that names a part of a resource has announced the resource", async ({ expect }) => {
    const manager = await begin(kind);
    await manager.add(0, A, "uri:file:///a/b");
    await manager.upstream.send(updated("file:///a/b/c"));
    expect(await manager.publishes(0, "uri:file:///a/b")).toEqual(["uri:file:///a/b"]);
    await manager.upstream.send(updated("file:///a/c#d"));
    expect(await manager.publishes(0, A)).toEqual([A]);
    await manager.upstream.send(updated("file:///ab"));
    await manager.upstream.send(updated("file:///a/b"));
    expect(await manager.publishes(0, "uri:file:///a/b")).toEqual(["uri:file:///a/b"]);
  });
});
