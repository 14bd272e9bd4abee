/** What a branch sends the feeds: the interests of its subscribers, no more often than it has to. */

import { describe, test } from "vitest";

import type { Interests, Topic } from "../../../../src/catalog/feeds.ts";
import { UNTOLD } from "./fan-out-fakes.ts";
import { useWorldTime, withWorld, type World } from "./fan-out-world.ts";

useWorldTime();

/** The changes of interest that a feed received. */
function changesAt(world: World, slug = "a"): readonly (readonly [Topic[], Topic[]])[] {
  return world.feed(slug).changes.map(({ add, remove }) => [[...add], [...remove]] as const);
}

/** The answer to a subscription, when everything has arrived. */
async function answer(world: World, name: string, interests: Interests): Promise<Interests> {
  const subscribed = world.branch.subscribe(name, interests);
  await world.allArrive();
  return subscribed;
}

describe("a topic", () => {
  test("is sent to its feed with its first subscriber, once in a life of the branch", async ({
    expect,
  }) => {
    await withWorld(async (world) => {
      const names = Array.from({ length: 50 }, (_, n) => `s${n}`);
      await world.subscribed({ a: ["tools"] }, ...names);
      await world.subscribed({ a: ["tools"] }, "later");
      world.listen("l", { a: ["tools", "uri:x"] });
      await world.allArrive();
      expect(changesAt(world)).toEqual([
        [["tools"], []],
        [["uri:x"], []],
      ]);
      world.evict();
      await world.subscribed({ a: ["tools"] }, ...names);
      expect(changesAt(world).slice(2)).toEqual([[["tools"], []]]);
    });
  });

  test("that the server does not announce is not kept, and asked for again", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      const interests: Interests = { a: ["uri:unknown", "tools"], b: ["uri:unknown"] };
      expect(await answer(world, "s", interests)).toEqual({ a: ["tools"] });
      expect(rowsIn("wants_1")).toBe(1);
      await answer(world, "s", { b: ["uri:unknown"] });
      expect(changesAt(world, "b")).toHaveLength(2);
    });
  });

  test("that is a list is kept all the same, and its feed asked once in a while", async ({
    expect,
  }) => {
    await withWorld(async (world) => {
      const names = ["s1", "s2", "s3"];
      await world.subscribed({ a: [UNTOLD] }, ...names);
      expect(await answer(world, "s4", { a: [UNTOLD, "tools"] })).toEqual({ a: ["tools"] });
      expect(changesAt(world)).toEqual([
        [[UNTOLD], []],
        [["tools"], []],
      ]);
      world.branch.publish({ slug: "a", seq: 1, topics: [UNTOLD] }); // found out by the gateway
      await world.allArrive();
      for (const name of [...names, "s4"]) expect(world.session(name).taken).toHaveLength(1);
      await world.pass(61_000);
      await answer(world, "s4", { a: [UNTOLD] });
      expect(changesAt(world)).toHaveLength(3);
      for (const name of [...names, "s4"]) world.branch.unsubscribe(name);
      await world.pass(31_000, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual([]);
    });
  });

  test("of a server that does not exist is not kept", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      expect(await answer(world, "s", { unknown: ["tools"] })).toEqual({});
      expect([world.feeds.size, rowsIn("wants_1")]).toEqual([0, 0]);
    });
  });

  test("that is a version is asked for anew once it was announced: its source tells at once", async ({
    expect,
  }) => {
    await withWorld(async (world) => {
      await world.subscribed({ a: ["version:1"] }, "s1", "s2");
      expect(changesAt(world)).toHaveLength(1);
      world.branch.publish({ slug: "a", seq: 1, topics: ["version:1"] });
      await world.subscribed({ a: ["version:1"] }, "s3");
      expect(changesAt(world).slice(1)).toEqual([[["version:1"], []]]);
    });
  });

  test("without a subscriber is withdrawn from its feed after a while", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed({ a: ["tools", "uri:x"] }, "s1", "s2");
      world.listen("l", { a: ["uri:x"] });
      await world.allArrive();
      world.branch.unsubscribe("s1");
      expect(rowsIn("untold_1")).toBe(0);
      world.branch.unsubscribe("s2", { a: ["tools", "uri:x"] });
      expect(rowsIn("untold_1")).toBe(1);
      await world.pass(31_000, () => world.allArrive());
      expect(changesAt(world).slice(1)).toEqual([[[], ["tools"]]]);
      world.hangUp("l");
      await world.pass(31_000, () => world.allArrive());
      expect(changesAt(world).slice(2)).toEqual([[[], ["uri:x"]]]);
      expect([rowsIn("wants_1"), rowsIn("untold_1")]).toEqual([0, 0]);
      expect(world.alarmAt).toBe(Infinity);
    });
  });

  test("that is wanted again soon is sent again: its feed may have lost what it had promised", async ({
    expect,
  }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed({ a: ["tools"] }, "s");
      world.branch.unsubscribe("s");
      await world.pass(10_000);
      await world.subscribed({ a: ["tools"] }, "s");
      await world.pass(20_000, () => world.allArrive());
      expect(world.feed("a").changes.slice(1)).toMatchObject([
        { add: ["tools"], remove: [], isLate: true },
      ]);
      expect(rowsIn("untold_1")).toBe(0);
    });
  });

  test("that is wanted again while it is withdrawn is sent after that", async ({ expect }) => {
    await withWorld(async (world) => {
      await world.subscribed({ a: ["tools"] }, "s");
      world.branch.unsubscribe("s");
      await world.pass(31_000); // the call is under way
      expect(world.calls).toHaveLength(1);
      const again = world.branch.subscribe("s", { a: ["tools"] });
      await world.pass(0);
      expect(world.calls).toHaveLength(1); // two could overtake each other
      await world.allArrive();
      expect(await again).toEqual({ a: ["tools"] });
      expect(changesAt(world).slice(1)).toEqual([
        [[], ["tools"]],
        [["tools"], []],
      ]);
    });
  });

  test("whose withdrawal is carried out much too late is sent again", async ({ expect }) => {
    await withWorld(async (world) => {
      await world.subscribed({ a: ["tools"] }, "s");
      world.branch.unsubscribe("s");
      await world.pass(31_000);
      const [removal] = world.calls.splice(0);
      await world.pass(7000); // nobody waits for it any more
      await world.subscribed({ a: ["tools"] }, "s");
      removal?.arrive();
      expect([...world.feed("a").watched]).toEqual([]);
      await world.pass(60_000, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual(["tools"]);
    });
  });
});

describe("a feed that does not answer", () => {
  test("delays no subscriber of the others, and its own for seconds only", async ({ expect }) => {
    await withWorld(async (world) => {
      world.feed("a").mode = "hangs";
      const startedAt = Date.now();
      let endedAt = 0;
      const both = world.branch.subscribe("s1", { a: ["tools"], b: ["tools"] });
      void both.then(() => (endedAt = Date.now()));
      expect(await answer(world, "s2", { b: ["tools", "uri:x"] })).toEqual({
        b: ["tools", "uri:x"],
      });
      expect(Date.now()).toBe(startedAt);
      await world.pass(10_000, () => world.allArrive());
      expect(await both).toEqual({ a: ["tools"], b: ["tools"] });
      expect(endedAt - startedAt).toBeLessThan(4000);
    });
  });

  test.for(["hangs", "lost"] as const)(
    "(%s) counts as announcing its lists, and is asked until it has answered",
    async (mode, { expect }) => {
      await withWorld(async (world, { rowsIn }) => {
        world.feed("a").mode = mode;
        const subscribed = world.branch.subscribe("s", { a: ["tools", "prompts", "uri:x"] });
        await world.pass(7000, () => world.allArrive());
        expect(await subscribed).toEqual({ a: ["tools", "prompts"] });
        expect(rowsIn("wants_1")).toBe(2);
        await world.pass(100_000, () => world.allArrive());
        expect([...world.feed("a").watched]).toEqual([]);
        world.kill();
        world.feed("a").mode = "ok";
        await world.pass(600_000, () => world.allArrive());
        expect([...world.feed("a").watched].toSorted()).toEqual(["prompts", "tools"]);
        expect(rowsIn("untold_1")).toBe(0);
      });
    },
  );

  test("and is asked by another before it is asked again is asked as late", async ({ expect }) => {
    await withWorld(async (world) => {
      world.feed("a").mode = "lost";
      await world.subscribed({ a: ["tools"] }, "s1");
      world.feed("a").mode = "ok";
      await world.subscribed({ a: ["tools"] }, "s2");
      // It is promised what it may have missed, and the feed tells only of what is new to it.
      expect(world.feed("a").changes).toMatchObject([{ add: ["tools"], isLate: true }]);
    });
  });

  test("and is asked again for a resource of nobody's promises it to nobody unseen", async ({
    expect,
  }) => {
    await withWorld(async (world) => {
      world.feed("a").mode = "lost";
      await world.subscribed({ a: ["uri:x"] }, "s");
      world.feed("a").mode = "ok";
      await world.subscribed({ a: ["uri:x"] }, "s");
      expect(world.feed("a").changes).toMatchObject([{ add: ["uri:x"], isLate: false }]);
    });
  });

  test("and receives much too late what was given up is corrected", async ({ expect }) => {
    await withWorld(async (world) => {
      const subscribed = world.branch.subscribe("s", { a: ["uri:x"] });
      await world.pass(7000);
      expect(await subscribed).toEqual({});
      const [asked] = world.calls.splice(0);
      await world.pass(10_000, () => world.allArrive());
      asked?.arrive();
      expect([...world.feed("a").watched]).toEqual(["uri:x"]);
      await world.pass(60_000, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual([]);
    });
  });

  test("is asked for a resource twice at once: neither is promised it", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      world.feed("a").mode = "hangs";
      const both = [1, 2].map(() => world.branch.subscribe("s", { a: ["uri:x"] }));
      await world.pass(7000);
      expect(await Promise.all(both)).toEqual([{}, {}]);
      expect(rowsIn("wants_1")).toBe(0);
    });
  });

  test("leaves a subscriber the resource that it had", async ({ expect }) => {
    await withWorld(async (world) => {
      await world.subscribed({ a: ["uri:x"] }, "s");
      world.kill();
      world.feed("a").mode = "lost";
      expect(await answer(world, "s", { a: ["uri:x", "uri:y"] })).toEqual({ a: ["uri:x"] });
      world.feed("a").mode = "ok";
      world.branch.publish({ slug: "a", seq: 1, topics: ["uri:x"] });
      await world.allArrive();
      expect(world.session("s").taken).toHaveLength(1);
    });
  });
});

describe("a feed whose server was removed", () => {
  test("is asked again until the branch knows that, and when the server is back", async ({
    expect,
  }) => {
    await withWorld(async (world, { rowsIn }) => {
      const feed = world.feed("a");
      feed.mode = "lost";
      world.removed.set("a", false);
      world.cannotLearn = true;
      await world.subscribed({ a: ["tools"] }, "s");
      await world.pass(20_000, () => world.allArrive());
      expect(rowsIn("untold_1")).toBe(1);
      world.cannotLearn = false;
      await world.pass(100_000, () => world.allArrive());
      expect([rowsIn("untold_1"), world.alarmAt]).toEqual([0, Infinity]);
      world.removed.delete("a");
      feed.mode = "ok";
      expect(await answer(world, "s", { a: ["tools"] })).toEqual({ a: ["tools"] });
      expect([...feed.watched]).toEqual(["tools"]);
    });
  });
});

describe("a feed that has deleted what it had promised", () => {
  test("is asked again, as late, until it has promised it anew", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed({ a: ["tools", "uri:x"] }, "s");
      const feed = world.feed("a");
      feed.watched.clear();
      feed.mode = "lost";
      world.branch.withdrawn("a");
      await world.pass(40_000, () => world.allArrive());
      expect([...feed.watched]).toEqual([]);
      world.kill();
      feed.mode = "ok";
      await world.pass(600_000, () => world.allArrive());
      expect(feed.changes.slice(1)).toMatchObject([
        { add: ["tools", "uri:x"], remove: [], isLate: true },
      ]);
      expect(rowsIn("untold_1")).toBe(0);
    });
  });

  test.for<Topic>(["uri:x", "tools"])(
    "is asked at once, and as late, when another wants the same: %s",
    async (topic, { expect }) => {
      await withWorld(async (world) => {
        await world.subscribed({ a: [topic] }, "s1");
        world.branch.withdrawn("a");
        expect(await answer(world, "s2", { a: [topic, "uri:y"] })).toEqual({ a: [topic, "uri:y"] });
        const [late, ...others] = world.feed("a").changes.slice(1);
        expect(late).toMatchObject({ add: [topic], isLate: true });
        // Nobody has missed anything of what nobody had.
        expect(others).toMatchObject([{ add: ["uri:y"], isLate: false }]);
      });
    },
  );

  test("is asked at once for a list that the server did not announce before", async ({
    expect,
  }) => {
    await withWorld(async (world) => {
      await world.subscribed({ a: [UNTOLD] }, "s1");
      world.branch.withdrawn("a");
      await answer(world, "s2", { a: [UNTOLD] });
      expect(changesAt(world)).toEqual([
        [[UNTOLD], []],
        [[UNTOLD], []],
      ]);
    });
  });

  test("is asked again for a resource that its server refuses meanwhile", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed({ a: ["uri:x"] }, "s1");
      const feed = world.feed("a");
      feed.watched.clear();
      feed.refused.add("uri:x");
      world.branch.withdrawn("a");
      await world.pass(10_000, () => world.allArrive());
      expect(feed.changes).toHaveLength(2);
      expect(await answer(world, "s2", { a: ["uri:x"] })).toEqual({});
      feed.refused.delete("uri:x");
      await world.pass(400_000, () => world.allArrive());
      expect([...feed.watched]).toEqual(["uri:x"]);
      expect(feed.changes.slice(3)).toMatchObject([{ add: ["uri:x"], isLate: true }]);
      expect(rowsIn("untold_1")).toBe(0);
    });
  });

  test("while it is asked for more takes from nobody what they have", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed({ a: ["uri:x"] }, "s");
      const more = world.branch.subscribe("s", { a: ["uri:x", "uri:y"] });
      await world.pass(0);
      world.branch.withdrawn("a");
      await world.allArrive();
      expect(await more).toEqual({ a: ["uri:x", "uri:y"] });
      expect(rowsIn("wants_1")).toBe(2);
    });
  });
});

describe("a server that refuses a resource for a moment", () => {
  test.for(["replace", "subscribe"] as const)(
    "takes it from nobody who had it and asks for it anew (%s), and is asked again",
    async (again, { expect }) => {
      await withWorld(async (world, { rowsIn }) => {
        await world.subscribed({ a: ["uri:x"] }, "s");
        world.evict();
        const feed = world.feed("a");
        feed.refused.add("uri:x");
        const asked = world.branch[again]("s", { a: ["uri:x"] });
        await world.allArrive();
        expect(await asked).toEqual({});
        await world.pass(60_000, () => world.allArrive());
        // The feed keeps its promise to the branch.
        world.branch.publish({ slug: "a", seq: 1, topics: ["uri:x"] });
        await world.allArrive();
        expect(world.session("s").taken).toHaveLength(1);
        feed.refused.delete("uri:x");
        await world.pass(300_000, () => world.allArrive());
        expect(feed.changes.slice(2)).toMatchObject([{ add: ["uri:x"], remove: [], isLate: true }]);
        expect([rowsIn("wants_1"), rowsIn("untold_1")]).toEqual([1, 0]);
      });
    },
  );
});

describe("of resources", () => {
  test("a subscriber has so many, at all servers", async ({ expect }) => {
    await withWorld(
      async (world, { rowsIn }) => {
        const uris = ["uri:1", "uri:2"] as const;
        await world.subscribed({ a: uris }, "s", "another");
        const more: Interests = { a: ["uri:2", "uri:3", "tools"], b: ["uri:4", "prompts"] };
        expect(await answer(world, "s", more)).toEqual({
          a: ["uri:2", "uri:3", "tools"],
          b: ["prompts"],
        });
        expect(rowsIn("wants_1")).toBe(7);
        world.branch.unsubscribe("s", { a: ["uri:1"] });
        expect(await answer(world, "s", { b: ["uri:4"] })).toEqual({ b: ["uri:4"] });
      },
      { urisPerClient: 3 },
    );
  });

  test("none is longer than a URI that is stored a thousand times may be", async ({ expect }) => {
    await withWorld(async (world) => {
      const long = `uri:${"x".repeat(10_000)}` as const;
      expect(await answer(world, "s", { a: [long, "tools"] })).toEqual({ a: ["tools"] });
    });
  });
});
