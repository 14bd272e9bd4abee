/** The catalog cache and its callers: how long they wait, and the kinds of clients. */

import { describe, test } from "vitest";

import {
  ALL_LISTS,
  ask,
  fails,
  LEGACY,
  MODERN,
  ONE,
  serves,
  short,
  TWO,
  withScene,
} from "./catalog-fixture.ts";

describe("waiting", () => {
  test("ends in time, with the stored catalog or with the trouble that the server is slow", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      const answer = await ask(cache, { waitMs: 5 });
      expect(answer).toMatchObject({ kind: "none", trouble: { reason: "slow" } });
      expect(answer.trouble?.message).toContain('"docs"');
      scene.attempts[0]?.answer(ONE);
      expect(short(await ask(cache))).toBe("one");
      scene.now += 10_000;
      expect(short(await ask(cache, { waitMs: 5 }))).toBe("one");
      expect(scene.attempts).toHaveLength(2);
    });
  });

  test("is skipped for a call that is routed: nobody has heard anything that was wrong", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      const routing = { waitMs: 0, isForRouting: true };
      expect(short(await ask(cache, routing))).toBe("none (slow)");
      scene.attempts[0]?.answer(ONE);
      await scene.kept[0];
      expect(short(await ask(cache, routing))).toBe("one");
      expect(scene.announced).toEqual([]);
    });
  });

  test("a reading has a deadline, whatever the server does", async ({ expect }) => {
    await withScene(
      async (scene) => {
        const answer = await ask(scene.cache());
        expect(answer).toMatchObject({ kind: "none", trouble: { reason: "timeout" } });
        expect(scene.attempts[0]?.signal.aborted).toBe(true);
      },
      { catalogSeconds: 0.01 },
    );
  });

  test("a refresh goes on after its caller has left, and keeps the object alive", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      await ask(cache, { waitMs: 1 });
      expect(scene.kept).toHaveLength(1);
      scene.attempts[0]?.answer(ONE);
      await scene.kept[0];
      expect(short(await ask(cache, { waitMs: 0 }))).toBe("one");
    });
  });
});

describe("a caller that has the current version", () => {
  test("is sent no catalog", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, ONE, 1000);
      await ask(cache);
      expect(await ask(cache, { known: ONE.version })).toEqual({ kind: "same", freshMs: 1000 });
      expect(short(await ask(cache, { known: "another" }))).toBe("one");
      scene.now += 2000;
      fails(scene);
      expect(short(await ask(cache, { known: ONE.version }))).toBe("same (unreachable)");
    });
  });
});

describe("the kinds of clients", () => {
  test("have one catalog each, also after a restart", async ({ expect }) => {
    await withScene(async (scene) => {
      serves(scene, ONE);
      expect(short(await ask(scene.cache(), { client: LEGACY }))).toBe("one");
      serves(scene, TWO);
      expect(short(await ask(scene.cache(), { client: MODERN }))).toBe("two");
      const last = scene.cache();
      expect(short(await ask(last, { client: LEGACY }))).toBe("one");
      expect(short(await ask(last, { client: MODERN }))).toBe("two");
      expect(scene.attempts.map(({ client }) => client)).toEqual([LEGACY, MODERN]);
    });
  });

  test.for([
    { isWanted: true, announced: [ALL_LISTS] },
    { isWanted: false, announced: [] },
  ])(
    "that were given nothing are told when they are evicted, where anybody has subscribed: $isWanted",
    async ({ isWanted, announced }, { expect }) => {
      await withScene(
        async (scene) => {
          scene.isWanted = isWanted;
          const cache = scene.cache();
          expect(short(await ask(cache, { client: LEGACY, waitMs: 1 }))).toBe("none (slow)");
          expect(scene.announced).toEqual([]);
          serves(scene, ONE, 60_000);
          expect(short(await ask(cache, { client: MODERN }))).toBe("one");
          expect(scene.announced).toEqual(announced);
        },
        { keptCatalogsPerServer: 1 },
      );
    },
  );

  test("that were evicted before they could be read are told", async ({ expect }) => {
    await withScene(
      async (scene) => {
        scene.isWanted = true;
        const cache = scene.cache();
        const kinds = [0, 1, 2, 3].map((n) => ({ ...MODERN, capabilities: { extensions: { n } } }));
        const asked = kinds.map((client) => ask(cache, { client }));
        serves(scene, ONE, 60_000);
        // Two are read at a time. The third is evicted by the fourth until it is its turn.
        for (const attempt of scene.attempts) attempt.answer(ONE, 60_000);
        const answers = (await Promise.all(asked)).map(short);
        expect(answers).toEqual(["one", "one", "none (slow)", "one"]);
        expect(scene.announced).toEqual([ALL_LISTS]);
      },
      { keptCatalogsPerServer: 1 },
    );
  });

  test("are evicted in the order of their last request", async ({ expect }) => {
    const kinds = ["2025-03-26", "2025-06-18", "2025-11-25"] as const;
    await withScene(
      async (scene) => {
        const cache = scene.cache();
        serves(scene, ONE, 60_000);
        const [a, b, c] = kinds.map((revision) => ({ client: { revision, capabilities: {} } }));
        for (const kind of [a, b, a, c]) await ask(cache, kind);
        expect(scene.attempts).toHaveLength(3);
        for (const life of [cache, scene.cache()]) {
          await ask(life, a);
          await ask(life, c);
          expect(scene.attempts).toHaveLength(3);
        }
        await ask(scene.cache(), b);
        expect(scene.attempts).toHaveLength(4);
        const rows = scene.sql.exec<{ n: number }>("SELECT count(*) AS n FROM catalogs_1").one();
        expect(rows.n).toBe(2);
      },
      { keptCatalogsPerServer: 2 },
    );
  });

  test("that a client makes up are read two at a time", async ({ expect }) => {
    await withScene(
      async (scene) => {
        const cache = scene.cache();
        const kinds = Array.from({ length: 20 }, (_, n) => ({
          ...LEGACY,
          capabilities: { extensions: { n } },
        }));
        const waiting = kinds.map((client) => ask(cache, { client, waitMs: 5 }));
        expect(new Set((await Promise.all(waiting)).map(short))).toEqual(new Set(["none (slow)"]));
        expect(scene.attempts).toHaveLength(2);
        scene.attempts[0]?.answer(ONE);
        scene.attempts[1]?.fail();
        await Promise.all(scene.kept.slice(0, 17));
        // They had to make room for others meanwhile, and those that still wait are read in turn.
        const rows = scene.sql.exec("SELECT facts FROM catalogs_1");
        expect([...rows]).toEqual(Array.from({ length: 3 }, () => ({ facts: null })));
        expect(scene.attempts.slice(2).map(({ client }) => client)).toEqual(kinds.slice(17, 19));
      },
      { keptCatalogsPerServer: 3 },
    );
  });

  test("with a catalog are read before those without", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, ONE);
      await ask(cache, { client: LEGACY });
      scene.server = undefined;
      scene.now += 20_000;
      const made = [1, 2, 3].map((n) => ({ ...LEGACY, capabilities: { extensions: { n } } }));
      for (const client of made) await ask(cache, { client, waitMs: 1 });
      const waiting = ask(cache, { client: LEGACY });
      expect(scene.attempts).toHaveLength(3);
      scene.attempts[1]?.fail();
      await scene.kept[1];
      scene.attempts[3]?.answer(TWO);
      expect(short(await waiting)).toBe("two");
      expect(scene.attempts[3]?.client).toEqual(LEGACY);
    });
  });

  test("without a catalog evict none that has one", async ({ expect }) => {
    await withScene(
      async (scene) => {
        const cache = scene.cache();
        serves(scene, ONE, 60_000);
        await ask(cache);
        fails(scene);
        for (let n = 0; n < 5; n++) {
          await ask(cache, { client: { ...LEGACY, capabilities: { extensions: { n } } } });
        }
        expect(short(await ask(cache))).toBe("one");
        expect(short(await ask(scene.cache()))).toBe("one");
      },
      { keptCatalogsPerServer: 2 },
    );
  });

  test("that were evicted get the newest catalog of their era during an outage", async ({
    expect,
  }) => {
    await withScene(
      async (scene) => {
        const cache = scene.cache();
        serves(scene, ONE);
        await ask(cache, { client: MODERN });
        scene.now += 1;
        for (let n = 0; n < 5; n++) {
          await ask(cache, { client: { ...MODERN, capabilities: { extensions: { n } } } });
        }
        scene.now += 20_000;
        fails(scene);
        for (const life of [cache, scene.cache()]) {
          expect(short(await ask(life, { client: MODERN }))).toBe("one (unreachable)");
          expect(await ask(life, { client: MODERN, known: ONE.version })).toMatchObject({
            ...{ kind: "same", freshMs: 0, trouble: { reason: "unreachable" } },
          });
          // The other era may have nothing of it.
          expect(short(await ask(life, { client: LEGACY }))).toBe("none (unreachable)");
        }
        scene.now += 24 * 3_600_000;
        expect(short(await ask(cache, { client: MODERN }))).toBe("none (unreachable)");
      },
      { keptCatalogsPerServer: 2 },
    );
  });
});
