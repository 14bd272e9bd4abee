/**
 * A list whose change the server reports in the session of one client alone, and that no reading will find. Clients that
 * list at the server itself hear of it from nobody else.
 */

import { describe, test } from "vitest";

import type { CatalogCache } from "../../../../src/catalog/cache/catalog-cache.ts";
import { ask, failing, ONE, type Scene, serves, short, TWO, withScene } from "./catalog-fixture.ts";

interface Case {
  readonly where: string;
  readonly begin: (scene: Scene) => Promise<CatalogCache>;
}

const CASES: readonly Case[] = [
  { where: "nothing was ever read", begin: (scene) => Promise.resolve(scene.cache()) },
  {
    where: "nothing could be read",
    begin: async (scene) => {
      const cache = scene.cache();
      await ask(cache, { waitMs: 0, isForRouting: true });
      return cache;
    },
  },
  { where: "the last reading has failed", begin: failing },
  { where: "all were told of a change before", begin: told },
  {
    where: "the list is being read after that",
    begin: async (scene) => {
      const cache = await told(scene);
      scene.server = undefined;
      await ask(cache, { waitMs: 0, isForRouting: true });
      return cache;
    },
  },
];

/** A cache that knows a catalog whose tools have changed since, which all subscribers were told. */
async function told(scene: Scene): Promise<CatalogCache> {
  const cache = scene.cache();
  serves(scene, ONE, 60_000);
  await ask(cache);
  cache.outdated(["tools"]);
  scene.now += 1000;
  return cache;
}

describe("a report of a list", () => {
  test.for(
    CASES.flatMap((each) => [
      { ...each, life: "this life" },
      { ...each, life: "the next life" },
    ]),
  )("is announced after a pause where $where, by $life", async ({ begin, life }, { expect }) => {
    await withScene(async (scene) => {
      scene.isWanted = true;
      const before = await begin(scene);
      scene.now += 60_000;
      scene.announced.length = 0;
      const calls = scene.dueCalls;
      before.reported(["tools"]);
      expect(scene.dueCalls).toBeGreaterThan(calls);
      scene.now += 1000;
      before.reported(["tools"]);
      scene.now += 3999;
      before.wake();
      expect(scene.announced).toEqual([]);
      expect(before.dueAt).toBeLessThanOrEqual(scene.now + 1);
      const cache = life === "this life" ? before : scene.cache();
      scene.now += 1;
      cache.wake();
      expect(scene.announced).toEqual([["tools"]]);
      // Once, in all lives.
      scene.now += 10_000;
      cache.wake();
      scene.cache().wake();
      expect(scene.announced).toEqual([["tools"]]);
    });
  });

  test("that all are told of within the pause is not announced again", async ({ expect }) => {
    await withScene(async (scene) => {
      scene.isWanted = true;
      const cache = scene.cache();
      cache.reported(["tools", "prompts"]);
      cache.outdated(["tools"]);
      scene.now += 5000;
      scene.cache().wake();
      expect(scene.announced).toEqual([["prompts"]]);
    });
  });

  test.for([
    { ms: 999, announced: [] },
    { ms: 1000, announced: [["tools"]] },
  ])(
    "$ms ms after all were told of the list is announced as $announced: they may be of one change",
    async ({ ms, announced }, { expect }) => {
      await withScene(async (scene) => {
        scene.isWanted = true;
        const cache = scene.cache();
        cache.outdated(["tools"]);
        scene.now += ms;
        cache.reported(["tools"]);
        scene.now += 5000;
        cache.wake();
        expect(scene.announced).toEqual(announced);
      });
    },
  );

  test("is announced once where a reading finds the change after that", async ({ expect }) => {
    await withScene(async (scene) => {
      scene.isWanted = true;
      const cache = await told(scene);
      scene.server = undefined;
      const asked = ask(cache);
      cache.reported(["tools"]);
      scene.now += 5000;
      cache.wake();
      expect(scene.announced).toEqual([["tools"]]);
      scene.attempts.at(-1)?.answer(ONE, 60_000);
      await asked;
      serves(scene, TWO, 60_000);
      expect(short(await ask(cache))).toBe("two");
      scene.now += 5000;
      cache.wake();
      expect([scene.announced, cache.dueAt]).toEqual([[["tools"]], undefined]);
    });
  });

  test("is announced by a clock that was set back, too", async ({ expect }) => {
    await withScene(async (scene) => {
      scene.isWanted = true;
      const cache = scene.cache();
      cache.reported(["tools"]);
      scene.now -= 3_600_000;
      cache.wake();
      expect(scene.announced).toEqual([["tools"]]);
    });
  });

  test("is announced to nobody where nobody has subscribed", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      cache.reported(["tools"]);
      scene.isWanted = true;
      scene.now += 5000;
      cache.wake();
      expect([scene.announced, cache.dueAt]).toEqual([[], undefined]);
    });
  });
});

test("a list that nobody was promised until now is not announced", async ({ expect }) => {
  await withScene(async (scene) => {
    scene.isWanted = true;
    const cache = scene.cache();
    cache.outdated(["tools"], false);
    scene.now += 5000;
    cache.wake();
    expect([scene.announced, cache.dueAt]).toEqual([[], undefined]);
  });
});
