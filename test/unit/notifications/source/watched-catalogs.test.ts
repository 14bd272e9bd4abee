/** The watch on a server and the catalogs of that server, wired as in a feed: what clients are told of their lists. */

import { afterEach, describe, test, vi } from "vitest";

import type { CatalogCache } from "../../../../src/catalog/cache/catalog-cache.ts";
import type { Topic } from "../../../../src/catalog/feeds.ts";
import { topicOf } from "../../../../src/catalog/topics.ts";
import { WatchManager } from "../../../../src/notifications/source/watch-manager.ts";
import {
  ask,
  ONE,
  type Scene,
  serves,
  short,
  TWO,
  withScene,
} from "../../catalog/cache/catalog-fixture.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";
import { FakeServer } from "./fake-watch.ts";

const TTL_MS = 60_000;

interface Feed {
  readonly scene: Scene;
  readonly server: FakeServer;
  readonly catalogs: CatalogCache;
  readonly watch: WatchManager;
  /** The topics that were published to any branch. */
  readonly published: Topic[];
  /** Lets a second pass. */
  readonly pass: () => Promise<void>;
}

function withFeed(act: (feed: Feed) => Promise<void>): Promise<void> {
  return withScene(async (scene) => {
    vi.useFakeTimers();
    const server = new FakeServer();
    const published: Topic[] = [];
    const catalogs = scene.cache({
      covers: (topic) => watch.covers(topic),
      announce: (topics) => watch.announce(topics),
      isWanted: () => watch.isWanted,
    });
    const watch = new WatchManager({
      ...{ target: fakeTarget(() => new Response()), sql: scene.sql, now: Date.now },
      limits: { subscribedUrisPerServer: 100, newsMilliseconds: 100 },
      open: server.open,
      events: {
        publish: async (_branch, { topics }) => void published.push(...topics),
        outdated: (topics, isAnnounced) => catalogs.outdated(topics, isAnnounced),
        sent: () => catalogs.sent(),
      },
    });
    const pass = async (): Promise<void> => {
      scene.now += 1000;
      await vi.advanceTimersByTimeAsync(1000);
    };
    await act({ scene, server, catalogs, watch, published, pass });
    await watch.end();
  });
}

afterEach(() => {
  vi.useRealTimers();
});

describe("a change of a list that a reading finds", () => {
  test("is announced if nobody was promised the list as its watch was opened", async ({
    expect,
  }) => {
    await withFeed(async ({ scene, server, catalogs, watch, published, pass }) => {
      serves(scene, ONE, TTL_MS);
      await ask(catalogs);
      serves(scene, TWO, TTL_MS);
      const { promise, resolve } = Promise.withResolvers<void>();
      server.reached = promise;
      const promised = watch.watch(0, { add: ["tools"], remove: [] });
      expect(short(await ask(catalogs))).toBe("one");
      resolve();
      await pass();
      expect(await promised).toEqual(["tools"]);
      expect(published).toEqual([]);
      expect(short(await ask(catalogs))).toBe("two");
      await pass();
      expect(published).toEqual(["tools"]);
    });
  });

  test("is announced though nobody asks for the list after its watch was opened", async ({
    expect,
  }) => {
    await withFeed(async ({ scene, server, catalogs, watch, published, pass }) => {
      serves(scene, ONE, TTL_MS);
      await ask(catalogs);
      serves(scene, TWO, TTL_MS);
      const promised = watch.watch(0, { add: ["tools"], remove: [] });
      await pass();
      expect(await promised).toEqual(["tools"]);
      for (let second = 0; second < 60; second++) {
        if (catalogs.dueAt !== undefined && catalogs.dueAt <= scene.now) catalogs.wake();
        await pass();
      }
      expect(published).toEqual(["tools"]);
      expect([scene.attempts.length, server.attempts]).toEqual([2, 1]);
    });
  });

  test("is looked for by itself only for whoever has subscribed to a list", async ({ expect }) => {
    await withFeed(async ({ scene, catalogs, watch, pass }) => {
      serves(scene, ONE, TTL_MS);
      await ask(catalogs);
      serves(scene, TWO, TTL_MS);
      await Promise.all([watch.watch(0, { add: [topicOf("x:")], remove: [] }), pass()]);
      for (let second = 0; second < 60; second++) {
        if (catalogs.dueAt !== undefined && catalogs.dueAt <= scene.now) catalogs.wake();
        await pass();
      }
      expect(scene.attempts).toHaveLength(1);
    });
  });

  test("is announced once if the list was promised as the watch missed something", async ({
    expect,
  }) => {
    await withFeed(async ({ scene, server, catalogs, watch, published, pass }) => {
      const promised = watch.watch(0, { add: ["tools"], remove: [] });
      await pass();
      expect(await promised).toEqual(["tools"]);
      serves(scene, ONE, TTL_MS);
      await ask(catalogs);
      serves(scene, TWO, TTL_MS);
      server.miss();
      await pass();
      expect(published).toEqual(["tools"]);
      expect(short(await ask(catalogs))).toBe("two");
      await pass();
      expect(published).toEqual(["tools"]);
    });
  });
});
