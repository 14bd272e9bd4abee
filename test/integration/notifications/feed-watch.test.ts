/**
 * The one watch on a server, whatever its era and transport: shared by all who want to hear of it,
 * and there as long as anybody does.
 */

import { afterEach, describe, test } from "vitest";

import type { Script } from "../../support/scripted-upstream-script.ts";
import { PATIENCE_MS, until } from "../bounded.ts";
import { type BridgeServiceOptions, DeskFixture } from "./watch-fixture.ts";
import { methodOf, Upstream } from "../upstream.ts";

interface Kind {
  readonly server: Script["server"];
  readonly options?: BridgeServiceOptions;
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

let fixture: DeskFixture | undefined;
afterEach(async () => {
  await fixture?.leave();
});

async function begin(
  { server, options }: Kind,
  script: Partial<Script> = {},
): Promise<DeskFixture> {
  fixture = new DeskFixture(await Upstream.take({ server, ...script }), options);
  return fixture;
}

/** How many streams the server holds open for the gateway. */
async function openStreams({ upstream }: DeskFixture, { stream }: Kind): Promise<number> {
  return (await upstream.sent(stream)).filter(({ isCutOff }) => !isCutOff).length;
}

describe.for(KINDS)("a $server server", (kind) => {
  test("has one watch, whatever the number of branches", async ({ expect }) => {
    const desk = await begin(kind);
    expect(await desk.add(0, "tools", A)).toEqual(["tools", A]);
    const before = (await desk.upstream.log()).length;
    for (let branch = 1; branch < 8; branch++) {
      expect(await desk.add(branch, A, "tools")).toEqual([A, "tools"]);
    }
    expect((await desk.upstream.log()).slice(before).map(methodOf)).toEqual([]);
    expect(await openStreams(desk, kind)).toBe(1);
    await desk.upstream.send(updated("file:///a"));
    await until(() => Promise.resolve(desk.published.length >= 8 || undefined), "all to be told");
    expect(desk.published.map(({ branch }) => branch).toSorted((a, b) => a - b)).toEqual([
      ...Array(8).keys(),
    ]);
    for (const { news } of desk.published) {
      expect(news).toMatchObject({ slug: desk.upstream.slug, topics: [A] });
    }
    await desk.run(({ isWatching, wantedCount }) => {
      expect([isWatching, wantedCount]).toEqual([true, 2]);
    });
  });

  test("is asked for each resource once, and told when nobody wants it", async ({ expect }) => {
    const desk = await begin(kind);
    await Promise.all([desk.add(0, A), desk.add(1, A), desk.add(2, A, B)]);
    await desk.add(0, B);
    const asked = async (uri: string): Promise<number> => {
      const sent = await desk.upstream.sent(kind.asks);
      const live = kind.asks === kind.stream ? sent.filter(({ isCutOff }) => !isCutOff) : sent;
      return live.filter(({ body }) => JSON.stringify(body?.params).includes(`"${uri}"`)).length;
    };
    expect([await asked("file:///a"), await asked("file:///b")]).toEqual([1, 1]);
    await desk.remove(0, A, B);
    await desk.remove(1, A);
    await desk.upstream.send(updated("file:///a"));
    expect(await desk.tells(2, A)).toEqual([A]);
    await desk.remove(2, A);
    await desk.upstream.send(updated("file:///a"));
    await desk.upstream.send(updated("file:///b"));
    expect(await desk.tells(2, B)).toEqual([B]);
    expect(desk.toldTo(0)).toEqual([]);
    if (kind.asks === "resources/subscribe") {
      const [gone] = await desk.upstream.receives("resources/unsubscribe");
      expect(gone?.body?.params).toEqual({ uri: "file:///a" });
    } else {
      await expect.poll(() => asked("file:///a"), { timeout: PATIENCE_MS }).toBe(0);
    }
    expect(await openStreams(desk, kind)).toBe(1);
  });

  test("is left when nobody wants anything, and found again", async ({ expect }) => {
    const desk = await begin(kind);
    await desk.add(0, "tools", A);
    await desk.add(1, "tools");
    await desk.remove(0, "tools", A);
    // Where a stream says what is wanted, the next one is open before it is closed.
    await expect.poll(() => openStreams(desk, kind), { timeout: PATIENCE_MS }).toBe(1);
    await desk.remove(1, "tools");
    await expect.poll(() => openStreams(desk, kind), { timeout: PATIENCE_MS }).toBe(0);
    if (kind.server === "legacy") await desk.upstream.receives("DELETE");
    await desk.run(({ isWatching, wantedCount }) => {
      expect([isWatching, wantedCount]).toEqual([false, 0]);
    });
    expect(await desk.add(3, "tools")).toEqual(["tools"]);
    await desk.upstream.send(TOOLS_CHANGED);
    expect(await desk.tells(3, "tools")).toEqual(["tools"]);
    if (kind.asks !== "resources/subscribe") return;
    // Not every server has sessions that end.
    await desk.add(3, A, B);
    const before = (await desk.upstream.sent("resources/unsubscribe")).length;
    await desk.remove(3, "tools", A, B);
    const gone = await desk.upstream.receives("resources/unsubscribe", before + 2);
    const uris = gone.slice(before).map(({ body }) => body?.params?.["uri"]);
    expect(new Set(uris)).toEqual(new Set(["file:///a", "file:///b"]));
  });

  test("is heard of lists that nobody wants, for what is known of them", async ({ expect }) => {
    const desk = await begin(kind);
    await desk.add(0, "prompts");
    await desk.run((held) => {
      expect(
        (["tools", "prompts", "resources", A] as const).map((topic) => held.covers(topic)),
      ).toEqual([true, true, true, false]);
    });
    // Whatever was read before the watch stood may have changed since.
    await until(() => Promise.resolve(desk.outdated.length > 0 || undefined), "the lists");
    expect(desk.outdated.splice(0)).toEqual([["tools", "prompts", "resources"]]);
    await desk.upstream.send(TOOLS_CHANGED);
    await until(() => Promise.resolve(desk.outdated.length > 0 || undefined), "the tools");
    expect(desk.outdated).toEqual([["tools"]]);
    expect(desk.published).toEqual([]);
  });

  test("tells each change of a burst once in a while, and the last one after it", async ({
    expect,
  }) => {
    const newsMilliseconds = 200;
    const desk = await begin({ ...kind, options: { ...kind.options, newsMilliseconds } });
    await desk.add(0, "tools", A, B);
    const startedAt = performance.now();
    for (let n = 0; n < 100; n++) {
      await desk.upstream.send(updated(`file:///${n % 2 === 0 ? "a" : "b"}`));
    }
    await desk.upstream.send(TOOLS_CHANGED);
    await until(
      () => Promise.resolve(desk.toldTo(0).includes("tools") || undefined),
      "the last change to be told",
    );
    // What came before it came before it, or with it.
    expect(desk.published.at(-1)?.news.topics).toContain("tools");
    const whiles = (performance.now() - startedAt) / newsMilliseconds;
    expect(desk.published.length).toBeLessThan(Math.min(whiles + 5, 100));
    for (const { news } of desk.published) {
      expect(new Set(news.topics).size).toBe(news.topics.length);
    }
  });

  test("tells numbers that grow, also when the desk has lost its memory", async ({ expect }) => {
    const desk = await begin(kind);
    const seqs: number[] = [];
    for (let life = 0; life < 3; life++) {
      await desk.add(0, "tools", A);
      await desk.upstream.send(TOOLS_CHANGED);
      await until(
        () => Promise.resolve(desk.toldTo(0).includes("tools") || undefined),
        "the tools",
      );
      seqs.push(...desk.published.splice(0).map(({ news }) => news.seq));
      await desk.lose();
    }
    expect(seqs.length).toBeGreaterThanOrEqual(3);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    expect(seqs.every(Number.isSafeInteger)).toBe(true);
  });

  test("drops all else that a server says, and refuses what it asks", async ({ expect }) => {
    const desk = await begin(kind);
    await desk.add(0, "tools", A);
    const { upstream } = desk;
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
    expect(await desk.tells(0, "tools")).toEqual(["tools"]);
    expect(desk.outdated.flat()).toEqual(["tools", "prompts", "resources", "tools"]);
    if (kind.asks === "subscriptions/listen") return;
    expect(await upstream.receivesAnswer("q")).toMatchObject({ error: { code: -32601 } });
    expect(await upstream.receivesAnswer("p")).toMatchObject({ result: {} });
  });

  test("that breaks the stream is watched again, and all that is wanted is told", async ({
    expect,
  }) => {
    const desk = await begin(kind);
    await desk.add(0, "tools", A);
    await desk.add(1, B);
    await desk.upstream.hangUp();
    await desk.tells(0, "tools", A);
    await desk.upstream.send(updated("file:///b"));
    await desk.tells(1, B);
    expect(await openStreams(desk, kind)).toBe(1);
  });

  test("is watched again when the desk has lost its memory, and all is told", async ({
    expect,
  }) => {
    const desk = await begin(kind);
    await desk.add(0, "tools", A);
    await desk.add(1, B, "prompts");
    await desk.add(1, A);
    await desk.remove(1, A);
    await desk.lose();
    // Whatever the object is woken for.
    await desk.run(() => undefined);
    await until(
      () =>
        Promise.resolve(
          (["tools", A].every((topic) => desk.toldTo(0).includes(topic as typeof A)) &&
            ["prompts", B].every((topic) => desk.toldTo(1).includes(topic as typeof B))) ||
            undefined,
        ),
      "both to be told of all they want",
    );
    expect([...new Set(desk.toldTo(0))].toSorted()).toEqual(["tools", A]);
    expect([...new Set(desk.toldTo(1))].toSorted()).toEqual(["prompts", B]);
    await desk.upstream.send(updated("file:///b"));
    await desk.tells(1, B);
    expect(await openStreams(desk, kind)).toBe(1);
  });

  test("is subscribed to a thousand resources, and to no more than there may be", async ({
    expect,
  }) => {
    const desk = await begin({ ...kind, options: { ...kind.options, maxUris: 1000 } });
    const topics = [...Array(1001).keys()].map((n) => `uri:file:///${n}` as const);
    for (let branch = 0; branch < 4; branch++) {
      // A branch has a quarter of them at most.
      const asked = topics.slice(250 * branch, 250 * branch + 251);
      expect(await desk.add(branch, ...asked)).toEqual(asked.slice(0, 250));
    }
    // Another branch may want what is wanted already.
    expect(await desk.add(4, "uri:file:///7", "uri:file:///1000")).toEqual(["uri:file:///7"]);
    await desk.upstream.send(updated("file:///999"));
    await desk.tells(3, "uri:file:///999");
    await desk.upstream.send(updated("file:///7"));
    await desk.tells(4, "uri:file:///7");
    await desk.remove(0, "uri:file:///3");
    expect(await desk.add(4, "uri:file:///1000")).toEqual(["uri:file:///1000"]);
  });

  test("that speaks of a part of a resource has told of the resource", async ({ expect }) => {
    const desk = await begin(kind);
    await desk.add(0, A, "uri:file:///a/b");
    await desk.upstream.send(updated("file:///a/b/c"));
    expect(await desk.tells(0, "uri:file:///a/b")).toEqual(["uri:file:///a/b"]);
    await desk.upstream.send(updated("file:///a/c#d"));
    expect(await desk.tells(0, A)).toEqual([A]);
    await desk.upstream.send(updated("file:///ab"));
    await desk.upstream.send(updated("file:///a/b"));
    expect(await desk.tells(0, "uri:file:///a/b")).toEqual(["uri:file:///a/b"]);
  });
});
