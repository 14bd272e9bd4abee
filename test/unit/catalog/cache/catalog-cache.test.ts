/** The catalog cache: how long a catalog is fresh. */

import { describe, test } from "vitest";

import { ask, catalogOf, ONE, serves, short, TWO, withScene } from "./catalog-fixture.ts";

describe("freshness", () => {
  test("one reading serves all callers that ask at the same time", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      const answers = Array.from({ length: 20 }, () => ask(cache));
      scene.attempts[0]?.answer(ONE);
      expect(new Set((await Promise.all(answers)).map(short))).toEqual(new Set(["one"]));
      expect(scene.attempts).toHaveLength(1);
    });
  });

  test.for([
    { said: "60 s", ttlMs: 60_000, freshMs: 60_000 },
    { said: "nothing", ttlMs: undefined, freshMs: 10_000 },
    { said: "0", ttlMs: 0, freshMs: 0 },
    { said: "a year", ttlMs: 365 * 86_400_000, freshMs: 86_400_000 },
  ])(
    "a catalog with the TTL $said is fresh for $freshMs ms",
    async ({ ttlMs, freshMs }, { expect }) => {
      await withScene(async (scene) => {
        const cache = scene.cache();
        serves(scene, ONE, ttlMs);
        expect(await ask(cache)).toMatchObject({ kind: "catalog", freshMs });
        scene.now += Math.max(freshMs - 1, 0);
        expect(await ask(cache)).toMatchObject({ kind: "catalog", freshMs: Math.min(freshMs, 1) });
        expect(scene.attempts).toHaveLength(freshMs === 0 ? 2 : 1);
        scene.now += 1;
        expect(await ask(cache)).toMatchObject({ kind: "catalog", freshMs });
        expect(scene.attempts).toHaveLength(freshMs === 0 ? 3 : 2);
      });
    },
  );

  test("a catalog is fresh for ten minutes while the server announces changes", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      for (const topic of ["tools", "prompts", "resources"] as const) scene.covered.add(topic);
      serves(scene, ONE, 0);
      await ask(cache);
      scene.now += 600_000 - 1;
      // To clients that hear of nothing, it says no more than the server does.
      expect(await ask(cache)).toMatchObject({ kind: "catalog", freshMs: 0 });
      expect(scene.attempts).toHaveLength(1);
      scene.now += 1;
      await ask(cache);
      expect(scene.attempts).toHaveLength(2);
      await ask(cache);
      expect(scene.attempts).toHaveLength(2);
      scene.covered.delete("prompts");
      await ask(cache);
      expect(scene.attempts).toHaveLength(3);
    });
  });

  test("announcements count only if they were on before the reading", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, ONE, 0);
      await ask(cache);
      for (const topic of ["tools", "prompts", "resources"] as const) scene.covered.add(topic);
      await ask(cache);
      expect(scene.attempts).toHaveLength(2);
      await ask(cache);
      expect(scene.attempts).toHaveLength(2);
    });
  });

  test("a list that the server does not have needs no announcements", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      const about = { capabilities: { tools: {} }, serverInfo: undefined, instructions: undefined };
      scene.covered.add("tools");
      serves(scene, catalogOf({ tools: ["one"] }, { about }), 0);
      await ask(cache);
      await ask(cache);
      expect(scene.attempts).toHaveLength(1);
    });
  });

  test("a server without lists counts as one that announces nothing", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      const about = { capabilities: {}, serverInfo: undefined, instructions: undefined };
      serves(scene, catalogOf({}, { about }), 0);
      await ask(cache);
      await ask(cache);
      expect(scene.attempts).toHaveLength(2);
    });
  });

  test("a clock that was set back makes no catalog fresh", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, ONE, 60_000);
      await ask(cache);
      scene.now -= 1;
      await ask(cache);
      expect(scene.attempts).toHaveLength(2);
    });
  });

  test("a catalog that a caller doubts is read again, at most once a second", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, ONE, 60_000);
      await ask(cache);
      serves(scene, TWO, 60_000);
      const doubt = { known: ONE.version, isDoubted: true };
      expect(short(await ask(cache, doubt))).toBe("same");
      scene.now += 1000;
      expect(short(await ask(cache, doubt))).toBe("two");
      scene.now += 1000;
      // What it doubts is not what is here.
      expect(short(await ask(cache, doubt))).toBe("two");
      expect(scene.attempts).toHaveLength(2);
    });
  });
});

describe("a change that the server announces", () => {
  test("has the catalog read again", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, ONE, 60_000);
      await ask(cache);
      cache.outdated(["uri:file:///a"]);
      expect(short(await ask(cache))).toBe("one");
      serves(scene, TWO, 60_000);
      cache.outdated(["tools"]);
      expect(short(await ask(cache))).toBe("two");
      expect(scene.attempts).toHaveLength(2);
      // Whoever wanted to know was told by whoever was told.
      expect(scene.announced).toEqual([]);
    });
  });

  test("during a refresh has it read again for callers that ask afterwards", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      const before = ask(cache);
      cache.outdated(["tools"]);
      const after = ask(cache);
      scene.attempts[0]?.answer(ONE, 60_000);
      expect(short(await before)).toBe("one");
      await expect.poll(() => scene.attempts.length).toBe(2);
      scene.attempts[1]?.answer(TWO, 60_000);
      expect(short(await after)).toBe("two");
      expect(short(await ask(cache))).toBe("two");
      expect(scene.attempts).toHaveLength(2);
    });
  });

  test("is remembered by the next life of the object", async ({ expect }) => {
    await withScene(async (scene) => {
      serves(scene, ONE, 60_000);
      const cache = scene.cache();
      await ask(cache);
      cache.outdated(["tools"]);
      serves(scene, TWO, 60_000);
      expect(short(await ask(scene.cache()))).toBe("two");
      expect(short(await ask(scene.cache()))).toBe("two");
      expect(scene.attempts).toHaveLength(2);
      const last = scene.cache();
      last.outdated(["tools"]);
      // It is as it was; and that is remembered, too.
      await ask(last);
      await ask(scene.cache());
      expect(scene.attempts).toHaveLength(3);
    });
  });
});
