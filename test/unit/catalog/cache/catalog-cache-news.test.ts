/** Changes that no server announces: the cache finds them in a reading, and announces them. */

import { describe, test } from "vitest";

import type { Catalog, ListKind } from "../../../../src/catalog/catalog.ts";
import {
  ALL_LISTS,
  ask,
  catalogOf,
  LEGACY,
  MODERN,
  serves,
  short,
  withScene,
} from "./catalog-fixture.ts";

const BEFORE = { tools: ["a"], prompts: ["a"], resources: ["a"], templates: ["a"] };
const about: Catalog["about"] = {
  ...{ capabilities: { tools: {} }, serverInfo: undefined, instructions: "Others" },
};

describe("a change that the cache finds", () => {
  test.for<{ list: string; after: Catalog; announced: readonly string[] }>([
    ...(["tools", "prompts", "resources"] as const).map((list) => ({
      ...{ list, after: catalogOf({ ...BEFORE, [list]: ["a", "b"] }), announced: [list] },
    })),
    { list: "templates", after: catalogOf({ ...BEFORE, templates: [] }), announced: ["resources"] },
    {
      list: "two lists",
      after: catalogOf({ ...BEFORE, tools: [], prompts: ["b"] }),
      announced: ["prompts", "tools"],
    },
    { list: "the instructions", after: catalogOf(BEFORE, { about }), announced: [] },
  ])("in $list is announced as $announced", async ({ after, announced }, { expect }) => {
    await withScene(async (scene) => {
      for (const isNextLife of [false, true]) {
        const cache = scene.cache();
        serves(scene, catalogOf(BEFORE));
        await ask(cache);
        scene.now += 10_000;
        scene.announced.length = 0;
        serves(scene, after);
        await ask(isNextLife ? scene.cache() : cache);
        expect(scene.announced).toEqual(announced.length === 0 ? [] : [announced]);
        scene.now += 10_000;
      }
    });
  });

  test("is not announced again if the server announced it", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, catalogOf(BEFORE), 60_000);
      await ask(cache);
      cache.outdated(["tools"]);
      serves(scene, catalogOf({ ...BEFORE, tools: ["b"], prompts: ["b"] }), 60_000);
      await ask(cache);
      expect(scene.announced).toEqual([["prompts"]]);
    });
  });

  test.for([
    { who: "a list that did not wait for long", question: { waitMs: 1 }, announced: [["tools"]] },
    { who: "a list that did not wait", question: { waitMs: 0 }, announced: [["tools"]] },
    { who: "a call to be routed", question: { waitMs: 0, isForRouting: true }, announced: [] },
  ])(
    "was served stale to $who meanwhile: announced again to whom it was shown",
    async ({ question, announced }, { expect }) => {
      await withScene(async (scene) => {
        const cache = scene.cache();
        serves(scene, catalogOf(BEFORE), 60_000);
        await ask(cache);
        cache.outdated(["tools"]);
        scene.server = undefined;
        expect(short(await ask(cache, question))).toBe("a");
        scene.attempts[1]?.answer(catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
        await Promise.all(scene.kept);
        expect(scene.announced).toEqual(announced);
      });
    },
  );

  test.for([
    { when: "after a pause", passedMs: 5000 },
    { when: "by a clock that was set back", passedMs: -3_600_000 },
  ])(
    "was missed by a reading, after somebody was given the list of before: is read $when",
    async ({ passedMs }, { expect }) => {
      await withScene(async (scene) => {
        const cache = scene.cache();
        scene.isWanted = true;
        serves(scene, catalogOf(BEFORE), 60_000);
        await ask(cache);
        cache.outdated(["prompts"]);
        scene.server = undefined;
        await ask(cache, { waitMs: 0 });
        cache.outdated(["tools"]);
        expect(short(await ask(cache, { waitMs: 0 }))).toBe("a");
        scene.attempts[1]?.answer(catalogOf(BEFORE), 60_000);
        await Promise.all(scene.kept);
        expect([scene.announced, cache.dueAt]).toEqual([[], scene.now + 5000]);
        cache.wake();
        expect(scene.attempts).toHaveLength(2);
        scene.now += passedMs;
        serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
        cache.wake();
        await Promise.all(scene.kept);
        expect(scene.announced).toEqual([["tools"]]);
        expect(cache.dueAt).toBeUndefined();
      });
    },
  );

  test("in a reading that missed the next one is announced, and the server is not read again for that", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      scene.isWanted = true;
      serves(scene, catalogOf(BEFORE), 60_000);
      await ask(cache);
      cache.outdated(["tools"]);
      scene.server = undefined;
      expect(short(await ask(cache, { waitMs: 0 }))).toBe("a");
      cache.outdated(["tools"]);
      scene.attempts[1]?.answer(catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
      await Promise.all(scene.kept);
      expect(scene.announced).toEqual([["tools"]]);
      expect(cache.dueAt).toBeUndefined();
      // Whoever reads because of that has the newest.
      serves(scene, catalogOf({ ...BEFORE, tools: ["c"] }), 60_000);
      expect(short(await ask(cache))).toBe("c");
      expect(scene.announced).toEqual([["tools"]]);
    });
  });

  test("after somebody was given the list of before is announced, though clients of another kind came while it was read", async ({
    expect,
  }) => {
    await withScene(
      async (scene) => {
        const cache = scene.cache();
        serves(scene, catalogOf(BEFORE), 60_000);
        await ask(cache);
        cache.outdated(["tools"]);
        scene.server = undefined;
        expect(short(await ask(cache, { waitMs: 0 }))).toBe("a");
        serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
        expect(short(await ask(cache, { client: MODERN }))).toBe("b");
        expect(scene.announced).toEqual([]);
        scene.attempts[1]?.answer(catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
        await Promise.all(scene.kept);
        expect(scene.announced).toEqual([["tools"]]);
      },
      { keptCatalogsPerServer: 1 },
    );
  });

  test.for([
    { others: 1, isWanted: true, announced: [["tools"]] },
    { others: 2, isWanted: true, announced: [ALL_LISTS] },
    { others: 1, isWanted: false, announced: [] },
  ])(
    "after somebody was given the list of before is announced, though clients of $others other kinds came before it was read again; anybody has subscribed: $isWanted",
    async ({ others, isWanted, announced }, { expect }) => {
      await withScene(
        async (scene) => {
          const cache = scene.cache();
          scene.isWanted = isWanted;
          serves(scene, catalogOf(BEFORE), 60_000);
          await ask(cache);
          cache.outdated(["tools"]);
          scene.server = undefined;
          await ask(cache, { waitMs: 0 });
          cache.outdated(["tools"]);
          expect(short(await ask(cache, { waitMs: 0 }))).toBe("a");
          scene.attempts[1]?.answer(catalogOf(BEFORE), 60_000);
          await Promise.all(scene.kept);
          serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
          for (let n = 0; n < others; n++) {
            await ask(cache, { client: { ...MODERN, capabilities: { extensions: { n } } } });
          }
          scene.now += 5000;
          cache.wake();
          await Promise.all(scene.kept);
          expect(scene.announced).toEqual(announced);
        },
        { keptCatalogsPerServer: 1 },
      );
    },
  );

  test("has the catalogs of other clients read again, and is announced once", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, catalogOf(BEFORE), 60_000);
      await ask(cache, { client: MODERN });
      serves(scene, catalogOf(BEFORE), 1000);
      await ask(cache, { client: LEGACY });
      scene.now += 1000;
      serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
      expect(short(await ask(cache, { client: LEGACY }))).toBe("b");
      expect(short(await ask(cache, { client: MODERN }))).toBe("b");
      expect(short(await ask(cache, { client: LEGACY }))).toBe("b");
      expect(scene.attempts).toHaveLength(4);
      expect(scene.announced).toEqual([["tools"]]);
    });
  });

  test.for([
    { life: "the same life", isAsked: true },
    { life: "the same life", isAsked: false },
    { life: "the next life", isAsked: true },
    { life: "the next life", isAsked: false },
  ])(
    "was told to one client alone: read in $life, and announced to the others; somebody asks: $isAsked",
    async ({ life, isAsked }, { expect }) => {
      await withScene(async (scene) => {
        const before = scene.cache();
        scene.isWanted = true;
        serves(scene, catalogOf(BEFORE), 60_000);
        await ask(before);
        scene.now += 10_000;
        const calls = scene.dueCalls;
        before.reported(["tools"]);
        expect(scene.dueCalls).toBeGreaterThan(calls);
        const cache = life === "the next life" ? scene.cache() : before;
        scene.now += 4999;
        if (life === "the same life") {
          cache.wake();
          expect([scene.attempts.length, cache.dueAt]).toEqual([1, scene.now + 1]);
        }
        scene.now += 1;
        serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
        if (isAsked) expect(short(await ask(cache))).toBe("b");
        else cache.wake();
        await Promise.all(scene.kept);
        expect(scene.announced).toEqual([["tools"]]);
        expect(cache.dueAt).toBeUndefined();
        await ask(cache);
        expect(scene.attempts).toHaveLength(2);
      });
    },
  );

  test("was told to one client alone is looked for in one catalog after the other, until it is found", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      const kinds = [{ a: {} }, { b: {} }, { c: {} }].map((capabilities) => ({
        ...LEGACY,
        capabilities,
      }));
      serves(scene, catalogOf(BEFORE), 60_000);
      for (const client of kinds) await ask(cache, { client });
      scene.isWanted = true;
      cache.reported(["tools"]);
      scene.now += 5000;
      scene.server = undefined;
      cache.wake();
      expect(scene.attempts.slice(3).map(({ client }) => client)).toEqual(kinds.slice(-1));
      scene.attempts[3]?.answer(catalogOf(BEFORE), 60_000);
      await Promise.all(scene.kept);
      expect(cache.dueAt).toBe(scene.now + 5000);
      cache.wake();
      expect(scene.attempts).toHaveLength(4);
      scene.now += 5000;
      cache.wake();
      expect(scene.attempts).toHaveLength(5);
      scene.attempts[4]?.answer(catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
      await Promise.all(scene.kept);
      expect(scene.announced).toEqual([["tools"]]);
      expect(cache.dueAt).toBeUndefined();
      // The next life knows that all were told of the change, and reads nothing.
      const next = scene.cache();
      expect(next.dueAt).toBeUndefined();
      scene.now += 10_000;
      next.wake();
      expect(scene.attempts).toHaveLength(5);
    });
  });

  test("was told to one client alone, where nobody has subscribed: read when somebody asks", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, catalogOf(BEFORE), 60_000);
      await ask(cache);
      cache.reported(["tools"]);
      expect(cache.dueAt).toBeUndefined();
      scene.now += 10_000;
      cache.wake();
      expect(scene.attempts).toHaveLength(1);
    });
  });

  test("was told to all while it was read for the one who was told before is not announced again", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      scene.isWanted = true;
      serves(scene, catalogOf(BEFORE), 60_000);
      await ask(cache);
      cache.reported(["tools"]);
      scene.server = undefined;
      const asked = ask(cache);
      cache.outdated(["tools"]);
      serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
      scene.attempts[1]?.answer(catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
      expect(short(await asked)).toBe("b");
      expect([scene.announced, cache.dueAt]).toEqual([[], undefined]);
    });
  });

  test("was told to all, and then to one client alone, is announced again after a pause, and at once if the list was read in between", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      scene.isWanted = true;
      serves(scene, catalogOf(BEFORE), 60_000);
      await ask(cache);
      cache.outdated(["tools"]);
      scene.now += 1000;
      cache.reported(["tools"]);
      serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
      expect(short(await ask(cache))).toBe("b");
      expect([scene.announced, cache.dueAt]).toEqual([[], scene.now + 5000]);
      cache.reported(["tools"]);
      serves(scene, catalogOf({ ...BEFORE, tools: ["c"] }), 60_000);
      expect(short(await ask(cache))).toBe("c");
      expect([scene.announced, cache.dueAt]).toEqual([[["tools"]], undefined]);
    });
  });

  test("was told to one client alone while the list was read: read again, and announced to the others", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, catalogOf(BEFORE), 60_000);
      await ask(cache);
      cache.outdated(["tools"]);
      scene.server = undefined;
      const asked = ask(cache);
      cache.reported(["tools"]);
      serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
      scene.attempts[1]?.answer(catalogOf(BEFORE), 60_000);
      expect(short(await asked)).toBe("a");
      expect(short(await ask(cache))).toBe("b");
      expect(scene.announced).toEqual([["tools"]]);
    });
  });

  test("was told to one client alone, and then to all, is not announced again", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      serves(scene, catalogOf(BEFORE), 60_000);
      await ask(cache);
      cache.reported(["tools"]);
      cache.outdated(["tools"]);
      serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 60_000);
      expect(short(await ask(cache))).toBe("b");
      expect(scene.announced).toEqual([]);
    });
  });

  test.for([
    { isSent: false, isWaiting: false },
    { isSent: false, isWaiting: true },
    { isSent: true, isWaiting: false },
    { isSent: true, isWaiting: true },
  ])(
    "is announced by the next life as well, unless every branch has it: $isSent, and it does not wait: $isWaiting",
    async ({ isSent, isWaiting }, { expect }) => {
      await withScene(async (scene) => {
        const before = scene.cache();
        scene.isWanted = true;
        scene.isReceived = false;
        serves(scene, catalogOf(BEFORE), 1000);
        await ask(before);
        scene.now += 1000;
        serves(scene, catalogOf({ ...BEFORE, tools: ["b"] }), 1000);
        await ask(before);
        expect([scene.announced, before.dueAt]).toEqual([[["tools"]], scene.now + 30_000]);
        if (isWaiting) {
          scene.now += 1000;
          serves(scene, catalogOf({ ...BEFORE, tools: ["b"], prompts: ["b"] }), 60_000);
          await ask(before);
        }
        if (isSent) before.sent();
        const left = [...(isWaiting ? ["prompts"] : []), ...(isSent ? [] : ["tools"])];
        const cache = scene.cache();
        expect(cache.dueAt === undefined).toBe(left.length === 0);
        cache.wake();
        expect(scene.announced.slice(1)).toEqual(left.length === 0 ? [] : [left]);
        cache.sent();
        expect([cache.dueAt, scene.cache().dueAt]).toEqual([undefined, undefined]);
      });
    },
  );

  test("in every reading is announced every five seconds", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      scene.isWanted = true;
      const change = async (list: ListKind, n: number): Promise<void> => {
        serves(scene, catalogOf({ ...BEFORE, [list]: [`${n}`] }), 0);
        await ask(cache);
      };
      for (let n = 0; n < 10; n++) await change("tools", n);
      expect(scene.announced).toEqual([["tools"]]);
      scene.now += 4999;
      await change("prompts", 10);
      expect([cache.dueAt, scene.announced.length]).toEqual([scene.now + 1, 1]);
      scene.now += 1;
      cache.wake();
      expect(scene.announced).toEqual([["tools"], ["prompts", "tools"]]);
    });
  });
});

test("all lists are announced to whoever was given one that the cache knows nothing of, once in a few seconds", async ({
  expect,
}) => {
  await withScene(async (scene) => {
    const cache = scene.cache();
    scene.isWanted = true;
    serves(scene, catalogOf(BEFORE), 60_000);
    await ask(cache);
    for (let n = 0; n < 3; n++) cache.announce();
    expect(scene.announced).toEqual([ALL_LISTS]);
    expect(cache.dueAt).toBe(scene.now + 5000);
    scene.now += 5000;
    cache.wake();
    expect(scene.announced).toEqual([ALL_LISTS, ALL_LISTS]);
    expect(scene.attempts).toHaveLength(1);
  });
});
