/** A server that recovers: how the cache notices, what it announces, and what callers report. */

import { describe, test, vi } from "vitest";

import { UpstreamError } from "../../../../src/upstream/upstream-error.ts";
import {
  ALL_LISTS,
  ask,
  catalogOf,
  failing,
  fails,
  LEGACY,
  MODERN,
  ONE,
  serves,
  short,
  withScene,
} from "./catalog-fixture.ts";
import { START } from "../../lib/sql-fixture.ts";

const trouble = (since: number) => ({ reason: "unreachable", message: "It is gone", since });

describe("a recovery", () => {
  test("is announced", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      expect(scene.announced).toEqual([]);
      scene.now += 1000;
      serves(scene, ONE);
      expect(short(await ask(cache))).toBe("one");
      expect(scene.announced).toEqual([ALL_LISTS]);
      expect(cache.condition().state).toBe("healthy");
    });
  });

  test("of a server that was only slow is announced if a caller received no catalog", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      await ask(cache, { waitMs: 1 });
      scene.attempts[0]?.answer(ONE);
      await scene.kept[0];
      expect(scene.announced).toEqual([ALL_LISTS]);
    });
  });

  test("is announced even if no caller asked meanwhile", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      fails(scene);
      await ask(cache, { waitMs: 0 });
      await Promise.all(scene.kept);
      scene.isWanted = true;
      scene.now += 1000;
      serves(scene, ONE);
      cache.wake();
      await Promise.all(scene.kept);
      expect(scene.announced).toEqual([ALL_LISTS]);
    });
  });

  test("is announced by the next life of the object", async ({ expect }) => {
    await withScene(async (scene) => {
      await failing(scene);
      scene.now += 1000;
      serves(scene, ONE);
      await ask(scene.cache());
      expect(scene.announced).toEqual([ALL_LISTS]);
      expect(scene.cache().condition().state).toBe("healthy");
    });
  });

  test("that is followed by failures is announced every five seconds, and in the end", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      scene.isWanted = true;
      for (let n = 0; n < 4; n++) {
        scene.now += 1000;
        serves(scene, ONE, 0);
        await ask(cache);
        fails(scene);
        await ask(cache);
      }
      expect(scene.announced).toEqual([ALL_LISTS]);
      serves(scene, ONE, 60_000);
      scene.now += 1000;
      await ask(cache);
      expect(cache.dueAt).toBe(scene.now + 1000);
      scene.now += 1000;
      cache.wake();
      expect(scene.announced).toEqual([ALL_LISTS, ALL_LISTS]);
      expect(cache.dueAt).toBeUndefined();
    });
  });
});

describe("a server that does not return one of its lists", () => {
  const message = 'Upstream "docs" answered resources/list without a list';
  const fault = { list: "resources", reason: "malformed", message, since: START } as const;
  const partly = catalogOf({ tools: ["one"] }, { faults: [fault] });

  test("is failing, with one line in the log", async ({ expect }) => {
    await withScene(async (scene) => {
      const log = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const cache = scene.cache();
      serves(scene, partly, 86_400_000);
      expect(await ask(cache)).toMatchObject({ kind: "catalog", catalog: partly });
      const trouble = { reason: "malformed", message, since: START };
      expect(cache.condition()).toMatchObject({ state: "failing", trouble });
      // Whatever it says of how long the others are good.
      scene.now += 10_000;
      await ask(cache);
      expect(scene.attempts).toHaveLength(2);
      // The next life of the object knows it, too.
      expect(scene.cache().condition()).toMatchObject({ state: "failing", trouble });
      expect(log.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown)).toEqual([
        { event: "server", server: "docs", state: "failing", reason: "malformed" },
      ]);
      log.mockRestore();
    });
  });

  test.for([{ freshSeconds: 10 }, { freshSeconds: 300 }])(
    "is asked again while clients are subscribed, and the list is announced, with lists that are good for $freshSeconds s",
    async ({ freshSeconds }, { expect }) => {
      await withScene(
        async (scene) => {
          const cache = scene.cache();
          serves(scene, partly);
          for (const topic of ["tools", "prompts", "resources"] as const) scene.covered.add(topic);
          await ask(cache);
          expect(cache.dueAt).toBeUndefined();
          scene.isWanted = true;
          expect(cache.dueAt).toBe(START + 60_000);
          scene.now += 59_999;
          cache.wake();
          expect(scene.attempts).toHaveLength(1);
          scene.now += 1;
          serves(scene, catalogOf({ tools: ["one"], resources: ["r:1"] }));
          cache.wake();
          await Promise.all(scene.kept);
          expect(scene.announced).toEqual([["resources"]]);
          expect(cache.condition().state).toBe("healthy");
          expect(cache.dueAt).toBeUndefined();
        },
        { catalogFreshSeconds: freshSeconds },
      );
    },
  );

  test("announces that it does again, though nothing in it has changed", async ({ expect }) => {
    await withScene(async (scene) => {
      const lists = { tools: ["one"], resources: ["r:1"] };
      serves(scene, catalogOf(lists), 0);
      await ask(scene.cache());
      const tools = { ...fault, list: "tools" } as const;
      serves(scene, catalogOf(lists, { faults: [fault, tools] }), 0);
      await ask(scene.cache());
      serves(scene, catalogOf(lists, { faults: [tools] }), 0);
      await ask(scene.cache());
      expect(scene.announced).toEqual([["resources"]]);
      scene.now += 5000;
      serves(scene, catalogOf(lists), 0);
      await ask(scene.cache());
      expect(scene.announced).toEqual([["resources"], ["tools"]]);
    });
  });

  test("is read with the known catalog at hand", async ({ expect }) => {
    await withScene(async (scene) => {
      const known: unknown[] = [];
      const cache = scene.cache({
        read: (_client, _signal, last) => {
          known.push(last());
          return Promise.resolve({ catalog: partly, ttlMs: 0 });
        },
      });
      await ask(cache);
      await ask(cache);
      expect(known).toEqual([undefined, partly]);
    });
  });
});

describe("a failing server is retried without a request", () => {
  test("while clients are subscribed", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      const attempts = scene.attempts.length;
      expect(cache.dueAt).toBeUndefined();
      scene.now += 5000;
      cache.wake();
      expect(scene.attempts).toHaveLength(attempts);

      scene.isWanted = true;
      const dueCalls = scene.dueCalls;
      expect(cache.dueAt).toBe(START + 11_000);
      cache.wake();
      // It is under way.
      expect(cache.dueAt).toBe(scene.now + 30_000);
      await Promise.all(scene.kept);
      expect(scene.dueCalls).toBe(dueCalls + 1);
      expect(cache.dueAt).toBe(scene.now + 2000);
      cache.wake();
      expect(scene.attempts).toHaveLength(attempts + 1);
      scene.now += 2000;
      serves(scene, ONE);
      cache.wake();
      await Promise.all(scene.kept);
      expect(scene.announced).toEqual([ALL_LISTS]);
      expect(cache.dueAt).toBeUndefined();
    });
  });

  test("by the next life of the object, where this one is lost while it reads", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      scene.isWanted = true;
      const lost = await failing(scene);
      scene.server = undefined;
      scene.now += 1000;
      lost.wake();
      expect(lost.dueAt).toBe(scene.now + 30_000);
      scene.now += 30_000;
      serves(scene, ONE);
      const next = scene.cache();
      next.wake();
      await Promise.all(scene.kept.slice(-1));
      expect(scene.announced).toEqual([ALL_LISTS]);
      expect(next.dueAt).toBeUndefined();
    });
  });

  test("by the next life of the object, even if it never worked", async ({ expect }) => {
    await withScene(async (scene) => {
      fails(scene);
      await ask(scene.cache());
      scene.isWanted = true;
      const next = scene.cache();
      expect(next.dueAt).toBe(START + 1000);
      scene.now += 1000;
      serves(scene, ONE);
      next.wake();
      await Promise.all(scene.kept);
      expect(scene.announced).toEqual([ALL_LISTS]);
      expect(short(await ask(next, { waitMs: 0 }))).toBe("one");
    });
  });
});

describe("a life that is lost while it reads the server", () => {
  test("after a caller was given no catalog is followed by one that announces it", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      scene.isWanted = true;
      const lost = scene.cache();
      const calls = scene.dueCalls;
      expect(short(await ask(lost, { waitMs: 1 }))).toBe("none (slow)");
      expect([scene.dueCalls > calls, lost.dueAt]).toEqual([true, scene.now + 30_000]);
      scene.now += 30_000;
      serves(scene, ONE);
      const next = scene.cache();
      expect(next.dueAt).toBeLessThanOrEqual(scene.now);
      next.wake();
      await Promise.all(scene.kept.slice(-1));
      expect([scene.announced, next.dueAt]).toEqual([[ALL_LISTS], undefined]);
      expect(scene.cache().dueAt).toBeUndefined();
    });
  });

  test.for([
    { now: catalogOf({ tools: ["two"] }), announced: [["tools"]] },
    { now: ONE, announced: [] },
  ])(
    "after a caller was given the list of before is followed by one that announces what has changed: $announced",
    async ({ now, announced }, { expect }) => {
      await withScene(async (scene) => {
        scene.isWanted = true;
        const lost = scene.cache();
        serves(scene, ONE, 1000);
        await ask(lost);
        scene.now += 1000;
        scene.server = undefined;
        const calls = scene.dueCalls;
        expect(short(await ask(lost, { waitMs: 1 }))).toBe("one");
        expect([scene.dueCalls > calls, lost.dueAt]).toEqual([true, scene.now + 30_000]);
        scene.now += 30_000;
        serves(scene, now, 60_000);
        const next = scene.cache();
        expect(next.dueAt).toBeLessThanOrEqual(scene.now);
        next.wake();
        await Promise.all(scene.kept.slice(-1));
        expect([scene.announced, next.dueAt]).toEqual([announced, undefined]);
        expect(scene.cache().dueAt).toBeUndefined();
      });
    },
  );

  test("for a page, or to find who has something, is followed by none", async ({ expect }) => {
    await withScene(async (scene) => {
      scene.isWanted = true;
      const lost = scene.cache();
      await ask(lost, { waitMs: 1, isForRouting: true });
      void lost.look("page", LEGACY);
      expect(scene.cache().dueAt).toBeUndefined();
    });
  });

  test("for clients of many kinds leaves no more rows than catalogs are kept", async ({
    expect,
  }) => {
    await withScene(
      async (scene) => {
        scene.isWanted = true;
        const lost = scene.cache();
        for (let n = 0; n < 10; n++) {
          const client = { ...MODERN, capabilities: { extensions: { n } } };
          await ask(lost, { client, waitMs: 1 });
        }
        const rows = scene.sql.exec<{ n: number }>("SELECT count(*) AS n FROM catalogs_1").one();
        expect(rows.n).toBe(2);
      },
      { keptCatalogsPerServer: 2 },
    );
  });
});

describe("a report of a caller", () => {
  test("that the server is unavailable holds until the next attempt", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, ONE, 60_000);
      await ask(cache);
      cache.report(trouble(START - 5));
      cache.report(trouble(START + 5));
      expect(cache.condition()).toMatchObject({
        state: "failing",
        trouble: { reason: "unreachable" },
      });
      const answer = await ask(cache);
      expect(answer.trouble).toEqual(trouble(START - 5));
      expect(scene.attempts).toHaveLength(1);
      scene.now += 1000;
      expect(short(await ask(cache))).toBe("one");
      expect(scene.attempts).toHaveLength(2);
      // Somebody was told.
      expect(scene.announced).toEqual([ALL_LISTS]);
    });
  });

  test("that another caller received is corrected, also by the next life of the object", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, ONE, 60_000);
      await ask(cache);
      cache.report(trouble(START));
      await ask(cache);
      scene.now += 1000;
      await ask(scene.cache());
      expect(scene.announced).toEqual([ALL_LISTS]);
    });
  });

  test("that no other caller received needs no correction", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, ONE, 60_000);
      await ask(cache);
      cache.report(trouble(START));
      scene.now += 1000;
      await ask(cache);
      expect([scene.attempts.length, scene.announced]).toEqual([2, []]);
    });
  });

  test("that the server is available has it retried soon", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      for (const seconds of [1, 2, 4]) {
        scene.now += seconds * 1000;
        await ask(cache);
      }
      const attempts = scene.attempts.length;
      scene.now += 999;
      serves(scene, ONE);
      cache.report(undefined);
      expect(scene.attempts).toHaveLength(attempts);
      scene.now += 1;
      cache.report(undefined);
      await Promise.all(scene.kept);
      expect(scene.attempts).toHaveLength(attempts + 1);
      expect(short(await ask(cache, { waitMs: 0 }))).toBe("one");
      expect(scene.announced).toEqual([ALL_LISTS]);
    });
  });

  test("may be an announcement of the server itself", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      for (const seconds of [1, 2, 4]) {
        scene.now += seconds * 1000;
        await ask(cache);
      }
      scene.isWanted = true;
      expect(cache.dueAt).toBe(scene.now + 8000);
      const dueCalls = scene.dueCalls;
      cache.outdated(["tools"]);
      expect([cache.dueAt, scene.dueCalls]).toEqual([scene.now + 1000, dueCalls + 1]);
    });
  });

  test("decides the condition of a server that was never read", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      expect(cache.condition().state).toBe("unknown");
      cache.report(trouble(START));
      expect(cache.condition()).toMatchObject({ state: "down", trouble: trouble(START) });
      cache.report(undefined);
      expect(cache.condition().state).toBe("unknown");
      cache.report(trouble(START));
      serves(scene, ONE);
      await ask(cache);
      expect(cache.condition().state).toBe("healthy");
      expect(scene.attempts).toHaveLength(1);
    });
  });

  test("is replaced by the result of the next attempt", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      cache.report(trouble(START));
      fails(scene, new UpstreamError("docs", "malformed", "answered something that is not MCP"));
      await ask(cache);
      expect(cache.condition().trouble?.reason).toBe("malformed");
    });
  });
});

describe("the log", () => {
  test("has one line for each change of the condition", async ({ expect }) => {
    await withScene(async (scene) => {
      const lines: unknown[] = [];
      const take = (line: unknown) => void lines.push(JSON.parse(String(line)));
      const spies = [
        vi.spyOn(console, "warn").mockImplementation(take),
        vi.spyOn(console, "log").mockImplementation(take),
      ];
      const cache = await failing(scene);
      for (let n = 0; n < 3; n++) {
        scene.now += 60_000;
        await ask(cache);
      }
      const next = scene.cache();
      scene.now += 60_000;
      fails(scene, new UpstreamError("docs", "malformed", "answered something that is not MCP"));
      await ask(next);
      scene.now += 60_000;
      serves(scene, ONE);
      await ask(next);
      expect(lines).toEqual([
        // Why, once for the outage, however often it is tried again.
        { event: "upstream_failed", server: "docs", reason: "unreachable" },
        { event: "server", server: "docs", state: "failing", reason: "unreachable" },
        { event: "server", server: "docs", state: "failing", reason: "malformed" },
        { event: "server", server: "docs", state: "healthy" },
      ]);
      for (const spy of spies) spy.mockRestore();
    });
  });
});
