/** Looks at a server that no client has asked for: how often it is read, how long a caller waits, and what is remembered. */

import { describe, test } from "vitest";

import { ServerHistory, type History } from "../../../../src/catalog/cache/server-history.ts";
import { UpstreamError } from "../../../../src/upstream/upstream-error.ts";
import { START } from "../../lib/sql-fixture.ts";
import { ask, catalogOf, fails, LEGACY, MODERN, serves, withScene } from "./catalog-fixture.ts";

const MINUTE = 60_000;

describe("a look", () => {
  test("reads a server that nobody has asked, as the given kind of client", async ({ expect }) => {
    await withScene(async (scene) => {
      serves(scene, catalogOf({ tools: ["a"] }));
      const cache = scene.cache();
      await cache.look("start", MODERN);
      expect(scene.attempts.map(({ client }) => client)).toEqual([MODERN]);
      expect(cache.condition()).toMatchObject({ state: "healthy", counts: { tools: 1 } });
      expect(scene.history.all.looks).toEqual([{ at: START, ms: expect.any(Number) as number }]);
    });
  });

  test("reads again only after a while, and as the last client", async ({ expect }) => {
    await withScene(async (scene) => {
      serves(scene, catalogOf({ tools: ["a"] }), 24 * 60 * MINUTE);
      const cache = scene.cache();
      await cache.look("page", LEGACY);
      scene.now += MINUTE / 2 - 1;
      await cache.look("page", MODERN);
      expect(scene.attempts).toHaveLength(1);
      scene.now += 1;
      // However long the server says that its lists are good: the question is whether it is there.
      await cache.look("page", MODERN);
      expect(scene.attempts.map(({ client }) => client)).toEqual([LEGACY, LEGACY]);
      scene.now += 1999;
      await cache.look("button", MODERN);
      expect(scene.attempts).toHaveLength(2);
      scene.now += 1;
      await cache.look("button", MODERN);
      expect(scene.attempts).toHaveLength(3);
    });
  });

  test("of a page does not wait for a server that was well, and a button does", async ({
    expect,
  }) => {
    await withScene(async (scene) => {
      serves(scene, catalogOf({ tools: ["a"] }));
      const cache = scene.cache();
      await cache.look("start", LEGACY);
      scene.now += MINUTE;
      scene.server = undefined;
      await cache.look("page", LEGACY);
      expect(scene.attempts).toHaveLength(2);
      let isBack = false;
      const pressed = cache.look("button", LEGACY).then(() => (isBack = true));
      await Promise.resolve();
      expect(isBack).toBe(false);
      scene.attempts[1]?.answer(catalogOf({ tools: ["a"] }));
      await pressed;
      // It was the same look, which one of them began.
      expect(scene.attempts).toHaveLength(2);
      await Promise.all(scene.kept);
      expect(scene.history.all.looks).toHaveLength(2);
    });
  });

  test("finds that a failing server is back, though its pause is not over", async ({ expect }) => {
    await withScene(async (scene) => {
      fails(scene, new UpstreamError("docs", "timeout", "gave no sign of life"));
      const cache = scene.cache();
      for (let n = 0; n < 8; n += 1) {
        await cache.look("page", LEGACY);
        scene.now += MINUTE;
      }
      expect(cache.condition()).toMatchObject({ state: "down", trouble: { since: START } });
      await cache.look("page", LEGACY);
      serves(scene, catalogOf({ tools: ["a"] }));
      scene.now += 999;
      await cache.look("page", LEGACY);
      expect(cache.condition().state).toBe("down");
      scene.now += 1;
      await cache.look("page", LEGACY);
      expect(cache.condition()).toMatchObject({ state: "healthy" });
      const cause = "timed out";
      const [last] = scene.history.all.troubles;
      expect(last).toMatchObject({ reason: "timeout", cause, since: START, until: scene.now });
      expect(scene.history.all.looks.slice(0, 2)).toMatchObject([{}, { failure: "timeout" }]);
    });
  });

  test("follows the report of a caller at once", async ({ expect }) => {
    await withScene(async (scene) => {
      serves(scene, catalogOf({ tools: ["a"] }));
      const cache = scene.cache();
      await cache.look("page", LEGACY);
      cache.report({ reason: "unreachable", message: "is not answering", since: scene.now });
      await cache.look("page", LEGACY);
      expect(scene.attempts).toHaveLength(2);
      expect(cache.condition().state).toBe("healthy");
    });
  });

  test("says when the lists last changed, over a restart too", async ({ expect }) => {
    await withScene(async (scene) => {
      serves(scene, catalogOf({ tools: ["a"] }));
      await scene.cache().look("button", LEGACY);
      scene.now += MINUTE;
      await scene.cache().look("button", LEGACY);
      expect(scene.cache().condition().changedAt).toBe(START);
      serves(scene, catalogOf({ tools: ["b"] }));
      scene.now += MINUTE;
      await scene.cache().look("button", LEGACY);
      expect(scene.cache().condition().changedAt).toBe(scene.now);
      // A client of another kind is the first to ask: that changes nothing.
      const changedAt = scene.now;
      scene.now += MINUTE;
      await ask(scene.cache(), { client: MODERN });
      expect(scene.cache().condition()).toMatchObject({ changedAt, seenAt: scene.now });
    });
  });
});

const trouble = (n: number) => ({ reason: `r${n}`, message: `m${n}`, since: n });

function remembered(): { history: ServerHistory; writes: History[] } {
  const writes: History[] = [];
  const history = new ServerHistory({
    read: () => writes.at(-1),
    write: (value) => void writes.push(value),
  });
  return { history, writes };
}

describe("the history", () => {
  test("is bounded, the newest first, and read back by the next life", ({ expect }) => {
    const { history, writes } = remembered();
    for (let n = 0; n < 50; n += 1) {
      history.looked({ at: n, ms: 1 });
      history.changed(trouble(n), n);
    }
    expect(history.all.looks.map(({ at }) => at)).toEqual([49, 48, 47, 46, 45, 44, 43, 42, 41, 40]);
    expect(history.all.troubles).toHaveLength(20);
    const next = new ServerHistory({ read: () => writes.at(-1), write: () => undefined });
    expect(next.all).toEqual(history.all);
  });

  test("ends one trouble when another begins, and when all is well", ({ expect }) => {
    const { history } = remembered();
    history.changed(trouble(1), 1);
    history.changed(trouble(2), 5);
    history.changed(undefined, 9);
    history.changed(undefined, 12);
    expect(history.all.troubles).toEqual([
      { ...trouble(2), until: 9 },
      { ...trouble(1), until: 5 },
    ]);
  });
});
