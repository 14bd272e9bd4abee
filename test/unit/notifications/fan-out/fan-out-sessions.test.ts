/** How a branch delivers news to legacy sessions: one call at a time each, and none waits for another. */

import { describe, test } from "vitest";

import type { Interests } from "../../../../src/catalog/feeds.ts";
import { DELIVERY_MS } from "../../../../src/notifications/fan-out/late-news.ts";
import { named, seqsOf, useWorldTime, withWorld, type World } from "./fan-out-world.ts";

useWorldTime();

const TOOLS: Interests = { a: ["tools"] };
const MORE: Interests = { b: ["uri:x:"] };
const LESS: Interests = { c: ["uri:y:"] };

test("U62 a session that moves to another account hears no more of the one before", async ({
  expect,
}) => {
  await withWorld(async (world) => {
    await world.subscribed({ ...TOOLS, "b first": ["tools", "uri:x:"] }, "moved", "other");
    const replaced = world.branch.replace("moved", { ...TOOLS, "b second": ["tools"] });
    await world.allArrive();
    expect(await replaced).toEqual({ ...TOOLS, "b second": ["tools"] });
    world.branch.publish({ slug: "b first", seq: 1, topics: ["tools", "uri:x:"] });
    world.branch.publish({ slug: "b second", seq: 2, topics: ["tools"] });
    world.branch.publish({ slug: "a", seq: 3, topics: ["tools"] });
    await world.allArrive();
    expect(new Set(seqsOf(world, "moved"))).toEqual(new Set([2, 3]));
    expect(new Set(seqsOf(world, "other"))).toEqual(new Set([1, 3]));
  });
});

test("U62 what a session subscribes to while it moves to another account stays", async ({
  expect,
}) => {
  await withWorld(async (world) => {
    await world.subscribed({ "b first": ["tools"] }, "moved");
    const replaced = world.branch.replace("moved", { "b second": ["tools"] });
    const subscribed = world.branch.subscribe("moved", { c: ["uri:x:"] });
    await world.allArrive();
    await Promise.all([replaced, subscribed]);
    world.branch.publish({ slug: "b first", seq: 1, topics: ["tools"] });
    world.branch.publish({ slug: "b second", seq: 2, topics: ["tools"] });
    world.branch.publish({ slug: "c", seq: 3, topics: ["uri:x:"] });
    await world.allArrive();
    expect(new Set(seqsOf(world, "moved"))).toEqual(new Set([2, 3]));
  });
});

test("a session that says all that it wants keeps nothing else, also of the same server", async ({
  expect,
}) => {
  await withWorld(async (world, { rowsIn }) => {
    await world.subscribed(
      { a: ["tools", "uri:x:"], b: ["uri:x:"], "servers/": ["version:1"] },
      "s",
    );
    const replaced = world.branch.replace("s", { a: ["tools"], "servers/": ["version:2"] });
    await world.allArrive();
    await replaced;
    expect(rowsIn("wants_1")).toBe(2);
    await world.pass(31_000, () => world.allArrive());
    expect([...world.feed("a").watched]).toEqual(["tools"]);
    expect([...world.feed("b").watched]).toEqual([]);
    expect([...world.feed("servers/").watched]).toEqual(["version:2"]);
  });
});

test("a session is told of a server that its branch does not know, and cannot ask for", async ({
  expect,
}) => {
  await withWorld(async (world) => {
    world.cannotLearn = true;
    const asked = world.branch.subscribe("s", { new: ["tools"] });
    await world.allArrive();
    expect(await asked).toEqual({ new: ["tools"] });
    world.branch.publish({ slug: "new", seq: 1, topics: ["tools"] });
    await world.allArrive();
    expect(seqsOf(world, "s")).toEqual([1]);
  });
});

test("the feed of a server that its branch does not know is asked again until it answers", async ({
  expect,
}) => {
  await withWorld(async (world) => {
    world.cannotLearn = true;
    world.feed("new").mode = "lost";
    const asked = world.branch.subscribe("s", { new: ["tools"] });
    await world.allArrive();
    expect(await asked).toEqual({ new: ["tools"] });
    await world.pass(20_000, () => world.allArrive());
    world.feed("new").mode = "ok";
    await world.pass(60_000, () => world.allArrive());
    expect([...world.feed("new").watched]).toEqual(["tools"]);
  });
});

test("a session that says that it is gone while it subscribes is promised nothing", async ({
  expect,
}) => {
  await withWorld(async (world, { rowsIn }) => {
    world.session("s").mode = "gone";
    const asked = world.branch.subscribe("s", TOOLS);
    await world.pass(0);
    world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
    await world.pass(0);
    world.arrive(world.calls.findIndex(({ to }) => to === "session s"));
    await world.allArrive();
    expect(await asked).toEqual({});
    expect(rowsIn("wants_1")).toBe(0);
  });
});

test("what a session was not granted yet stays, and is no reason to take it for granted", async ({
  expect,
}) => {
  await withWorld(async (world, { rowsIn }) => {
    world.feed("b").mode = "lost";
    const subscribed = world.branch.subscribe("s", { b: ["uri:x:"] });
    const replaced = world.branch.replace("s", TOOLS, undefined, { b: ["uri:x:"] });
    expect(rowsIn("wants_1")).toBe(2);
    await world.allArrive();
    expect(await Promise.all([subscribed, replaced])).toEqual([{}, TOOLS]);
    expect(rowsIn("wants_1")).toBe(1);
  });
});

test("what a session asks for again while it says all that it wanted before stays", async ({
  expect,
}) => {
  await withWorld(async (world, { rowsIn }) => {
    await world.subscribed({ b: ["uri:x:"] }, "s");
    const replaced = world.branch.replace("s", { a: ["tools"] });
    const subscribed = world.branch.subscribe("s", { b: ["uri:x:"] });
    await world.allArrive();
    expect(await Promise.all([replaced, subscribed])).toEqual([
      { a: ["tools"] },
      { b: ["uri:x:"] },
    ]);
    expect(rowsIn("wants_1")).toBe(2);
  });
});

describe("a call of an earlier life of a session", () => {
  const [EARLIER, LATER] = [1, 2];

  test.for<{ what: string; call: (world: World) => Promise<unknown> }>([
    { what: "all that it wanted", call: ({ branch }) => branch.replace("s", TOOLS, EARLIER) },
    { what: "its subscription", call: ({ branch }) => branch.subscribe("s", LESS, EARLIER) },
    {
      what: "its unsubscription",
      call: async ({ branch }) => branch.unsubscribe("s", MORE, EARLIER),
    },
    { what: "its end", call: async ({ branch }) => branch.unsubscribe("s", undefined, EARLIER) },
  ])(
    "that arrives after one of a later life changes nothing: $what",
    async ({ call }, { expect }) => {
      await withWorld(async (world, { sql }) => {
        const replaced = world.branch.replace("s", { ...TOOLS, ...MORE }, LATER);
        await world.allArrive();
        await replaced;
        // The branch may have been restarted in between.
        world.evict();
        const answered = call(world);
        await world.allArrive();
        await answered;
        const rows = [...sql.exec<{ slug: string }>("SELECT slug FROM wants_1")];
        expect(rows).toEqual([{ slug: "a" }, { slug: "b" }]);
      });
    },
  );

  test("that is refused a resource does not take it from the later one", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      world.feed("b").mode = "hangs";
      const earlier = world.branch.subscribe("s", MORE, EARLIER);
      const later = world.branch.replace("s", MORE, LATER);
      await world.pass(7000);
      // Its client was granted it: it stays promised until the server answers.
      expect(await later).toEqual(MORE);
      await earlier;
      expect(rowsIn("wants_1")).toBe(1);
    });
  });

  test("is not known of once the session is forgotten", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      const subscribed = world.branch.subscribe("s", TOOLS, LATER);
      await world.allArrive();
      await subscribed;
      world.branch.unsubscribe("s", undefined, LATER);
      expect(rowsIn("lives_1")).toBe(0);
    });
  });
});

describe("news", () => {
  test("goes to every session that wants it, once, and no more than 100 at a time", async ({
    expect,
  }) => {
    await withWorld(async (world, { rowsIn }) => {
      const names = named(450);
      await world.subscribed(TOOLS, ...names);
      await world.subscribed({ b: ["tools"] }, "other");
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      await world.pass(0);
      expect(world.calls).toHaveLength(100);
      expect(rowsIn("due_1")).toBe(1);
      let most = 0;
      while (world.calls.length > 0) {
        most = Math.max(most, world.calls.length);
        for (let n = 0; n < 7; n += 1) world.arrive(n);
        await world.pass(0);
      }
      expect(most).toBe(100);
      for (const name of names) expect(seqsOf(world, name)).toEqual([1]);
      expect(world.session("other").calls).toBe(0);
      expect(rowsIn("due_1")).toBe(0);
    });
  });

  test("is due until the last session has been called, and has answered", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      const names = named(250);
      await world.subscribed(TOOLS, ...names);
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      for (await world.pass(0); world.calls.length > 0; await world.pass(0)) {
        expect(rowsIn("due_1")).toBe(1);
        for (const call of world.calls.splice(0)) call.arrive();
      }
      expect(rowsIn("due_1")).toBe(0);
      for (const name of names) expect(seqsOf(world, name)).toEqual([1]);
    });
  });

  test("says only what a session wants, in one call", async ({ expect }) => {
    await withWorld(async (world) => {
      await world.subscribed({ a: ["tools", "uri:x"] }, "s");
      world.branch.publish({ slug: "a", seq: 5, topics: ["prompts", "uri:x", "tools", "uri:y"] });
      await world.allArrive();
      expect(world.session("s").taken).toEqual([{ slug: "a", seq: 5, topics: ["tools", "uri:x"] }]);
      expect(world.session("s").calls).toBe(1);
    });
  });

  test.for([4, 5])("that is not newer is dropped: %i after 5", async (seq, { expect }) => {
    await withWorld(async (world) => {
      await world.subscribed(TOOLS, "s");
      world.branch.publish({ slug: "a", seq: 5, topics: ["tools"] });
      await world.allArrive();
      world.branch.publish({ slug: "a", seq, topics: ["tools"] });
      world.evict();
      world.branch.publish({ slug: "a", seq, topics: ["tools"] });
      world.branch.publish({ slug: "b", seq, topics: ["tools"] });
      await world.allArrive();
      expect(world.session("s").calls).toBe(1);
    });
  });

  test("without a subscriber is not written down, and is withdrawn from its feed", async ({
    expect,
  }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed(TOOLS, "s");
      world.feed("a").watched.add("prompts");
      world.branch.publish({ slug: "a", seq: 1, topics: ["prompts"] });
      expect([rowsIn("due_1"), rowsIn("accepted_1")]).toEqual([0, 0]);
      await world.pass(31_000, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual(["tools"]);
    });
  });
});

describe("a session that is busy", () => {
  test("gets one call at a time, and what changed meanwhile once", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed({ a: ["tools", "uri:x"] }, "s");
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      for (let seq = 2; seq < 8; seq += 1) {
        await world.pass(0);
        world.branch.publish({
          slug: "a",
          seq,
          topics: seq === 3 ? ["uri:x", "tools"] : ["tools"],
        });
      }
      await world.pass(0);
      expect(world.calls).toHaveLength(1);
      await world.allArrive();
      expect(world.session("s").taken).toEqual([
        { slug: "a", seq: 1, topics: ["tools"] },
        { slug: "a", seq: 3, topics: ["uri:x"] },
        { slug: "a", seq: 7, topics: ["tools"] },
      ]);
      expect([rowsIn("due_1"), rowsIn("late_1"), rowsIn("waiting_1")]).toEqual([0, 0, 0]);
    });
  });

  test("does not hold up what is next for the others", async ({ expect }) => {
    await withWorld(async (world) => {
      world.session("slow").mode = "hangs";
      await world.subscribed(TOOLS, "slow", ...named(10));
      for (let seq = 1; seq < 4; seq += 1) {
        world.branch.publish({ slug: "a", seq, topics: ["tools"] });
        await world.allArrive(); // no time passes
      }
      for (const name of named(10)) expect(seqsOf(world, name)).toEqual([1, 2, 3]);
    });
  });

  test("and many of them delay the others for moments only", async ({ expect }) => {
    await withWorld(async (world) => {
      // In order of their names: those that hang come first.
      const [hanging, others] = [named(300, "a"), named(50, "b")];
      for (const name of hanging) world.session(name).mode = "hangs";
      await world.subscribed(TOOLS, ...hanging, ...others);
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      for (let waited = 0; waited < 6; waited += 1) {
        await world.allArrive();
        await world.pass(1000);
      }
      for (const name of others) expect(seqsOf(world, name)).toEqual([1]);
      await world.pass(DELIVERY_MS);
      // They are known to hang now.
      world.branch.publish({ slug: "a", seq: 2, topics: ["tools"] });
      await world.allArrive();
      for (const name of others) expect(seqsOf(world, name)).toEqual([1, 2]);
    });
  });
});

describe.for(["gone", "offline"] as const)("a session that is %s", (mode) => {
  test("is forgotten, and not called again", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed({ a: ["tools", "uri:x"], b: ["tools"] }, "s");
      await world.subscribed(TOOLS, "other");
      world.session("s").mode = mode;
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      await world.allArrive();
      expect([rowsIn("wants_1"), rowsIn("late_1"), rowsIn("due_1")]).toEqual([1, 0, 0]);
      world.branch.publish({ slug: "a", seq: 2, topics: ["tools"] });
      await world.allArrive();
      expect(world.session("s").calls).toBe(1);
      // Nobody else wanted these.
      await world.pass(31_000, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual(["tools"]);
      expect([...world.feed("b").watched]).toEqual([]);
    });
  });

  test("and subscribes while it says so is not forgotten", async ({ expect }) => {
    await withWorld(async (world) => {
      await world.subscribed(TOOLS, "s");
      const session = world.session("s");
      session.mode = mode;
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      await world.pass(0);
      const subscribed = world.branch.subscribe("s", TOOLS);
      world.arrive(0);
      session.mode = "ok";
      await subscribed;
      await world.pass(2000, () => world.allArrive());
      expect(seqsOf(world, "s")).toEqual([1]);
      world.branch.publish({ slug: "a", seq: 2, topics: ["tools"] });
      await world.allArrive();
      expect(seqsOf(world, "s")).toEqual([1, 2]);
    });
  });
});
