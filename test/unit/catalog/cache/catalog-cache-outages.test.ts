/** A server that is unavailable: what the cache serves meanwhile, and when it tries again. */

import { describe, test, vi } from "vitest";

import { UpstreamError } from "../../../../src/upstream/upstream-error.ts";
import {
  ALL_LISTS,
  ask,
  failing,
  fails,
  LEGACY,
  MODERN,
  ONE,
  serves,
  short,
  TWO,
  withScene,
} from "./catalog-fixture.ts";
import { START } from "../../lib/sql-fixture.ts";
import { until } from "../../../support/until.ts";

const HOUR = 3_600_000;

describe("a refresh that ends when its server is configured in another way", () => {
  test.for(["is aborted", "is answered"])(
    "and %s leaves nothing behind",
    async (how, { expect }) => {
      await withScene(async (scene) => {
        const over = new AbortController();
        const cache = scene.cache({ over: over.signal });
        const asked = ask(cache);
        await until(() => scene.attempts.length === 1, "the attempt");
        const [attempt] = scene.attempts;
        over.abort(new Error("another configuration"));
        if (how === "is aborted") attempt?.fail(new Error("another configuration"));
        else attempt?.answer(ONE);
        const dueCalls = scene.dueCalls;
        expect(await asked).toMatchObject({ kind: "none", trouble: { reason: "slow" } });
        expect([scene.dueCalls, scene.announced, scene.history.all.troubles]).toEqual([
          dueCalls,
          [],
          [],
        ]);
        const next = scene.cache();
        expect([next.newest(), next.condition().trouble]).toEqual([undefined, undefined]);
      });
    },
  );
});

test("a catalog is not read any more when its rows may be another's, or deleted", async ({
  expect,
}) => {
  await withScene(async (scene) => {
    const over = new AbortController();
    const cache = scene.cache({ over: over.signal });
    serves(scene, ONE);
    expect(short(await ask(cache))).toBe("one");
    over.abort();
    expect(await ask(cache)).toMatchObject({ kind: "none", trouble: { reason: "slow" } });
  });
});

describe("a failed refresh", () => {
  test("leaves the last good catalog, which is served with the trouble", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      const answer = await ask(cache);
      expect(short(answer)).toBe("one (unreachable)");
      expect(answer).toMatchObject({
        freshMs: 0,
        trouble: { message: 'Upstream "docs" cannot be reached', since: START + 10_000 },
      });
    });
  });

  test("of a server that was never read leaves no catalog", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      fails(scene);
      expect(short(await ask(cache))).toBe("none (unreachable)");
      expect(cache.condition()).toMatchObject({ state: "down", counts: { tools: 0 } });
    });
  });

  test("leaves a catalog that is served up to the hard limit, and no longer", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      scene.now = START + 24 * HOUR;
      expect(short(await ask(cache))).toBe("one (unreachable)");
      expect(cache.condition().state).toBe("failing");
      scene.now += 1;
      expect(short(await ask(cache))).toBe("none (unreachable)");
      expect(cache.condition().state).toBe("down");
      scene.now += 60_000;
      serves(scene, ONE);
      expect(short(await ask(cache))).toBe("one");
    });
  });

  test("by a fault of the gateway quotes no error", async ({ expect }) => {
    await withScene(async (scene) => {
      const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
      const cache = scene.cache();
      fails(scene, new TypeError("secret"));
      const answer = await ask(cache);
      expect(answer.trouble).toMatchObject({ reason: "internal" });
      expect(answer.trouble?.message).toMatch(/"docs" \(reference [\w-]{36}\)/);
      expect(JSON.stringify(logged.mock.calls)).toContain("secret");
      logged.mockRestore();
    });
  });

  test("by a full database leaves memory as it was", async ({ expect }) => {
    await withScene(async (scene) => {
      const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
      let isFull = false;
      const cache = scene.cache({
        storage: {
          sql: scene.sql,
          transaction: (work) => {
            work();
            if (isFull) throw new Error("SQLITE_FULL");
            return work();
          },
        },
      });
      serves(scene, ONE, 0);
      await ask(cache);
      isFull = true;
      serves(scene, TWO, 0);
      const broken = await ask(cache, { known: ONE.version });
      expect(short(broken)).toBe("same (internal)");
      logged.mockRestore();
    });
  });
});

describe("after failures, the server is not asked", () => {
  test("for a second, then for twice as long each time, up to a minute", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      let attempts = scene.attempts.length;
      for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
        scene.now += seconds * 1000 - 1;
        expect(short(await ask(cache))).toBe("one (unreachable)");
        expect(scene.attempts).toHaveLength(attempts);
        scene.now += 1;
        await ask(cache);
        attempts += 1;
        expect(scene.attempts).toHaveLength(attempts);
      }
      expect((await ask(cache)).trouble?.since).toBe(START + 10_000);
      scene.now += 60_000;
      serves(scene, ONE, 0);
      await ask(cache);
      fails(scene);
      await ask(cache);
      scene.now += 1000;
      await ask(cache);
      expect(scene.attempts).toHaveLength(attempts + 3);
    });
  });

  test("by the next life of the object either", async ({ expect }) => {
    await withScene(async (scene) => {
      await failing(scene);
      const attempts = scene.attempts.length;
      const next = scene.cache();
      expect(next.condition()).toMatchObject({ state: "failing", seenAt: START });
      expect(short(await ask(next))).toBe("one (unreachable)");
      expect(scene.attempts).toHaveLength(attempts);
      scene.now += 1000;
      await ask(next);
      scene.now += 1999;
      await ask(scene.cache());
      expect(scene.attempts).toHaveLength(attempts + 1);
      scene.now += 1;
      serves(scene, TWO);
      expect(short(await ask(scene.cache()))).toBe("two");
      expect(scene.cache().condition()).toEqual({
        ...{ state: "healthy", seenAt: scene.now, changedAt: scene.now },
        counts: { tools: 1, resources: 0, templates: 0, prompts: 0 },
      });
    });
  });

  test("unless the clock was set back", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      scene.now -= HOUR;
      serves(scene, ONE, 0);
      expect(short(await ask(cache))).toBe("one");
      fails(scene);
      await ask(cache);
      scene.now -= HOUR;
      serves(scene, ONE, 0);
      await ask(cache);
      expect(scene.announced).toEqual([ALL_LISTS, ALL_LISTS]);
    });
  });

  test("more than once at a time, and no caller waits for the attempt long", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = await failing(scene);
      const attempts = scene.attempts.length;
      scene.server = undefined;
      scene.now += 1000;
      const first = await ask(cache, { waitMs: 5 });
      scene.now += 4;
      const second = await ask(cache, { waitMs: 5 });
      scene.now += 1000;
      const start = performance.now();
      const third = await ask(cache, { waitMs: 1000 });
      expect([first, second, third].map(short)).toEqual(Array(3).fill("one (unreachable)"));
      expect(performance.now() - start).toBeLessThan(900);
      expect(scene.attempts).toHaveLength(attempts + 1);
    });
  });
});

describe("an outage for one kind of client", () => {
  test("is none for the others", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      fails(scene, new UpstreamError("docs", "other-era", "speaks only the legacy era"));
      expect(short(await ask(cache, { client: MODERN }))).toBe("none (other-era)");
      // It is how the server is, and no illness.
      expect(cache.condition().state).toBe("unknown");
      serves(scene, ONE);
      expect(short(await ask(cache, { client: LEGACY }))).toBe("one");
      expect(short(await ask(cache, { client: MODERN, waitMs: 0 }))).toBe("none (other-era)");
      expect(cache.condition().state).toBe("healthy");
    });
  });

  test("is retried when the server works for another kind", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      fails(scene);
      for (const seconds of [0, 1, 2, 4]) {
        scene.now += seconds * 1000;
        await ask(cache, { client: MODERN });
      }
      await ask(cache, { client: LEGACY });
      scene.now += 1000;
      serves(scene, ONE);
      expect(short(await ask(cache, { client: MODERN }))).toBe("none (unreachable)");
      expect(short(await ask(cache, { client: LEGACY }))).toBe("one");
      expect(cache.condition().state).toBe("healthy");
      expect(short(await ask(cache, { client: MODERN }))).toBe("one");
    });
  });
});
