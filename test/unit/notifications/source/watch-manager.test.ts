/** What a watch manager answers, and when, by a fake clock: no branch waits long for a slow server. */

import { afterEach, describe, test, vi } from "vitest";

import type { Topic } from "../../../../src/catalog/feeds.ts";
import {
  type WatchManagerOptions,
  WatchManager,
} from "../../../../src/notifications/source/watch-manager.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";
import { FakeServer } from "./fake-watch.ts";
import { withSql } from "../../lib/sql-fixture.ts";

const A = "uri:file:///a";
const B = "uri:file:///b";

afterEach(() => {
  vi.useRealTimers();
});

function withManager(
  act: (manager: WatchManager, server: FakeServer) => Promise<void>,
  events: Partial<WatchManagerOptions["events"]> = {},
  maxUris = 100,
): Promise<void> {
  return withSql(async ({ sql }) => {
    vi.useFakeTimers();
    const server = new FakeServer();
    const manager = new WatchManager({
      ...{ target: fakeTarget(() => new Response()), sql, now: Date.now, open: server.open },
      limits: { subscribedUrisPerServer: maxUris, newsMilliseconds: 100 },
      events: { publish: () => Promise.resolve(), outdated: () => undefined, ...events },
    });
    await act(manager, server);
    await manager.end();
    vi.useRealTimers();
  });
}

/** After how long there was an answer. */
async function timed<T>(answer: Promise<T>): Promise<readonly [value: T, ms: number]> {
  const from = Date.now();
  const answered: (readonly [T, number])[] = [];
  void answer.then((value) => answered.push([value, Date.now() - from]));
  for (;;) {
    const [found] = answered;
    if (found !== undefined) return found;
    await vi.advanceTimersByTimeAsync(10);
  }
}

describe("a watch manager", () => {
  test("waits two seconds for a server to be reached", async ({ expect }) => {
    await withManager(async (manager, server) => {
      server.reached = new Promise(() => undefined);
      const [promised, ms] = await timed(manager.watch(0, { add: ["tools", A], remove: [] }));
      expect(promised).toEqual(["tools"]);
      expect(ms).toBeGreaterThanOrEqual(2000);
      expect(ms).toBeLessThan(2050);
      // The resource was not promised, so it is not wanted.
      expect(manager.wantedCount).toBe(1);
    });
  });

  test("announces to a branch what it asks for late, and was not on record for", async ({
    expect,
  }) => {
    const published: [branch: number, topics: readonly Topic[]][] = [];
    const publish: WatchManagerOptions["events"]["publish"] = (branch, { topics }) => {
      published.push([branch, topics]);
      return Promise.resolve();
    };
    const events = { publish };
    await withManager(async (manager) => {
      await timed(manager.watch(0, { add: ["tools"], remove: [] }));
      await timed(manager.watch(1, { add: ["prompts"], remove: [] }));
      await vi.advanceTimersByTimeAsync(2000);
      published.length = 0;
      const late = { add: ["tools", "prompts", A] as const, remove: [], isLate: true };
      await timed(manager.watch(0, late));
      await vi.advanceTimersByTimeAsync(2000);
      expect(published).toEqual([[0, ["prompts", A]]]);
      await timed(manager.watch(0, late));
      await vi.advanceTimersByTimeAsync(2000);
      expect(published).toHaveLength(1);
      await manager.watch(1, { add: [], remove: ["prompts"] });
    }, events);
  });

  test("leaves room for others beside one branch, and beside long URIs", async ({ expect }) => {
    await withManager(async (manager) => {
      const ask = async (branch: number, add: readonly Topic[]): Promise<number> =>
        (await timed(manager.watch(branch, { add, remove: [] })))[0].length;
      const many = Array.from({ length: 40 }, (_, n): Topic => `uri:file:///${n}`);
      expect(await ask(1, many)).toBe(25);
      expect(await ask(1, many)).toBe(25);
      expect(await ask(2, many.slice(30))).toBe(10);
      expect(await ask(2, [`uri:${"x".repeat(2049)}`, `uri:${"x".repeat(2048)}`])).toBe(1);
      for (const branch of [1, 2]) await manager.watch(branch, { add: [], remove: many });
      await manager.watch(2, { add: [], remove: [`uri:${"x".repeat(2048)}`] });
    });
  });

  test("watches resources of a mebibyte together at most", async ({ expect }) => {
    const long = Array.from({ length: 600 }, (_, n): Topic => `uri:${`${n}`.padEnd(2048, "x")}`);
    await withManager(
      async (manager) => {
        const [promised] = await timed(manager.watch(1, { add: long, remove: [] }));
        expect(promised).toHaveLength(512);
        await manager.watch(1, { add: [], remove: long });
      },
      {},
      10_000,
    );
  });

  test("answers at once of a server that is known to be away", async ({ expect }) => {
    await withManager(async (manager, server) => {
      server.isUp = false;
      const change = { add: ["tools", A], remove: [] } as const;
      expect(await timed(manager.watch(0, change))).toEqual([["tools"], expect.any(Number)]);
      const [promised, ms] = await timed(manager.watch(0, change));
      expect(promised).toEqual(["tools"]);
      expect(ms).toBeLessThan(50);
    });
  });

  test.for(["isRenewed", "isLate"] as const)(
    "keeps what was granted before while the server is away, and announces it then: %s",
    async (kind, { expect }) => {
      const published: Topic[] = [];
      const publish: WatchManagerOptions["events"]["publish"] = (_, { topics }) => {
        published.push(...topics);
        return Promise.resolve();
      };
      await withManager(
        async (manager, server) => {
          server.isUp = false;
          const change = { add: [A], remove: [], [kind]: true } as const;
          expect((await timed(manager.watch(0, change)))[0]).toEqual([A]);
          published.length = 0;
          server.isUp = true;
          await vi.advanceTimersByTimeAsync(5000);
          expect(manager.covers(A)).toBe(true);
          expect(published).toEqual([A]);
        },
        { publish },
      );
    },
  );

  test("drops no resource for which another request of the same branch waits", async ({
    expect,
  }) => {
    await withManager(async (manager, server) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.reached = promise;
      const first = manager.watch(0, { add: [A], remove: [] });
      await vi.advanceTimersByTimeAsync(1900);
      const second = manager.watch(0, { add: [A], remove: [] });
      await vi.advanceTimersByTimeAsync(150);
      expect(await first).toEqual([]);
      resolve();
      await vi.advanceTimersByTimeAsync(50);
      expect(await second).toEqual([A]);
    });
  });

  test("does not answer for what was withdrawn", async ({ expect }) => {
    await withManager(async (manager, server) => {
      server.reached = new Promise(() => undefined);
      const adding = manager.watch(0, { add: [A], remove: [] });
      await manager.watch(0, { add: [], remove: [A] });
      const [promised, ms] = await timed(adding);
      expect(promised).toEqual([]);
      expect(ms).toBeLessThan(50);
      expect([manager.wantedCount, vi.getTimerCount()]).toEqual([0, 0]);
    });
  });

  test("refuses what waits when it ends, and watches and announces nothing any more", async ({
    expect,
  }) => {
    const publish = vi.fn<WatchManagerOptions["events"]["publish"]>(() => Promise.resolve());
    const outdated = vi.fn<WatchManagerOptions["events"]["outdated"]>();
    await withManager(
      async (manager, server) => {
        await timed(manager.watch(0, { add: ["tools"], remove: [] }));
        outdated.mockClear();
        const waiting = manager.watch(0, { add: [A], remove: [] });
        const refused = expect(waiting).rejects.toThrow("The watch has ended");
        await manager.end();
        await refused;
        manager.announce(["tools"]);
        manager.wake();
        await expect(manager.watch(0, { add: [], remove: ["tools"] })).rejects.toThrow("ended");
        await vi.advanceTimersByTimeAsync(60_000);
        expect([server.attempts, server.isWatched, vi.getTimerCount()]).toEqual([1, false, 0]);
        expect([publish, outdated].map((each) => each.mock.calls)).toEqual([[], []]);
      },
      { publish, outdated },
    );
  });

  test("takes a topic that is withdrawn and wanted again in one call", async ({ expect }) => {
    await withManager(async (manager) => {
      await timed(manager.watch(0, { add: [A], remove: [] }));
      const [promised] = await timed(manager.watch(0, { add: [A, A, B], remove: [A, B] }));
      expect(promised).toEqual([A, B]);
      expect(manager.wantedCount).toBe(2);
    });
  });

  test("announces a list once when its server refuses it, and again when it does not any more", async ({
    expect,
  }) => {
    const published: (readonly Topic[])[] = [];
    const publish: WatchManagerOptions["events"]["publish"] = (_branch, { topics }) => {
      published.push(topics);
      return Promise.resolve();
    };
    await withManager(
      async (manager, server) => {
        await timed(manager.watch(0, { add: ["tools"], remove: [] }));
        const reopen = async (): Promise<void> => {
          server.end("lost");
          await vi.advanceTimersByTimeAsync(60_000);
        };
        server.untold.add("tools");
        await reopen();
        await reopen();
        expect(published).toEqual([["tools"]]);
        expect([manager.wantedCount, server.isWatched]).toEqual([1, true]);
        // Whoever is promised it meanwhile does not know yet.
        server.isUp = false;
        server.end("lost");
        expect((await timed(manager.watch(1, { add: ["tools"], remove: [] })))[0]).toEqual([
          "tools",
        ]);
        server.isUp = true;
        await vi.advanceTimersByTimeAsync(60_000);
        expect(published.splice(1)).toEqual([["tools"], ["tools"]]);
        server.untold.clear();
        await reopen();
        expect(published.splice(1)).toEqual([["tools"], ["tools"]]);
      },
      { publish },
    );
  });

  test.for<Topic>(["tools", A])(
    "keeps what a branch was promised when its server refuses that to another subscriber: %s",
    async (topic, { expect }) => {
      const published: [branch: number, topics: readonly Topic[]][] = [];
      const publish: WatchManagerOptions["events"]["publish"] = async (branch, { topics }) =>
        void published.push([branch, topics]);
      await withManager(
        async (manager, server) => {
          const reopen = async (): Promise<void> => {
            server.end("lost");
            await vi.advanceTimersByTimeAsync(60_000);
          };
          const asked = { add: [topic], remove: [] };
          expect((await timed(manager.watch(0, asked)))[0]).toEqual([topic]);
          server.untold.add(topic);
          await reopen();
          expect((await timed(manager.watch(0, asked)))[0]).toEqual([]);
          published.length = 0;
          server.untold.clear();
          await reopen();
          expect(published).toEqual([[0, [topic]]]);
          server.change(topic);
          await vi.advanceTimersByTimeAsync(1000);
          expect(published).toHaveLength(2);
        },
        { publish },
      );
    },
  );

  test("reports lists as outdated when a watch begins, without publishing them", async ({
    expect,
  }) => {
    const publish = vi.fn<WatchManagerOptions["events"]["publish"]>(() => Promise.resolve());
    const outdated = vi.fn<WatchManagerOptions["events"]["outdated"]>();
    await withManager(
      async (manager, server) => {
        server.untold.add("prompts");
        await timed(manager.watch(0, { add: ["tools", "prompts"], remove: [] }));
        await vi.advanceTimersByTimeAsync(100);
        expect(outdated.mock.calls).toEqual([[["tools", "resources"], false]]);
        expect(publish).not.toHaveBeenCalled();
        expect([manager.covers("tools"), manager.covers("prompts")]).toEqual([true, false]);
      },
      { publish, outdated },
    );
  });
});
