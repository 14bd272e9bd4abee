/** What a branch does with news for a session that cannot be reached, and with news of before its death. */

import { describe, test } from "vitest";

import type { Interests } from "../../../../src/catalog/feeds.ts";
import { DELIVERY_MS } from "../../../../src/notifications/fan-out/late-news.ts";
import { named, seqsOf, useWorldTime, withWorld } from "./fan-out-world.ts";

useWorldTime();

const TOOLS: Interests = { a: ["tools"] };

describe("a session that cannot be reached", () => {
  test.for(["lost", "deaf", "hangs"] as const)(
    "(%s) is tried again, less and less often, and has it once when it is back",
    async (mode, { expect }) => {
      await withWorld(async (world, { rowsIn }) => {
        await world.subscribed(TOOLS, "s");
        const session = world.session("s");
        session.mode = mode;
        world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
        await world.allArrive();
        await world.pass(DELIVERY_MS + 500);
        expect([rowsIn("due_1"), rowsIn("late_1")]).toEqual([0, 1]);
        const times: number[] = [];
        world.onDeliver = () => times.push(Date.now());
        await world.pass(600_000, () => world.allArrive());
        const pauses = times.slice(1).map((at, n) => at - (times[n] ?? 0));
        expect(times.length).toBeGreaterThan(5);
        expect(times.length).toBeLessThan(12);
        // Nobody is woken to see that it is still being tried.
        expect(world.alarms).toBeLessThan(2 * times.length + 5);
        expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
        session.mode = "ok";
        await world.pass(400_000, () => world.allArrive());
        expect(seqsOf(world, "s")).toEqual([1]);
        expect([rowsIn("late_1"), rowsIn("waiting_1")]).toEqual([0, 0]);
      });
    },
  );

  test("is given up after an hour, and gets its news before what changes then", async ({
    expect,
  }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed({ a: ["tools", "uri:x"] }, "s");
      world.session("s").mode = "lost";
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      await world.pass(3_500_000, () => world.allArrive());
      expect(rowsIn("late_1")).toBe(1);
      await world.pass(500_000, () => world.allArrive());
      expect([rowsIn("late_1"), rowsIn("waiting_1")]).toEqual([1, 0]);
      expect(world.alarmAt).toBe(Infinity);
      world.session("s").mode = "ok";
      world.branch.publish({ slug: "a", seq: 2, topics: ["uri:x"] });
      await world.pass(DELIVERY_MS + 2000, () => world.allArrive());
      expect(seqsOf(world, "s")).toEqual([1, 2]);
      expect([rowsIn("late_1"), rowsIn("waiting_1")]).toEqual([0, 0]);
    });
  });

  test("that was given up gets its news when it subscribes again", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed(TOOLS, "s");
      world.session("s").mode = "lost";
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      await world.pass(4_000_000, () => world.allArrive());
      world.session("s").mode = "ok";
      world.kill();
      await world.subscribed(TOOLS, "s");
      await world.pass(3000, () => world.allArrive());
      expect(seqsOf(world, "s")).toEqual([1]);
      expect([rowsIn("late_1"), rowsIn("waiting_1")]).toEqual([0, 0]);
    });
  });

  test("is tried again after the branch was lost", async ({ expect }) => {
    await withWorld(async (world) => {
      await world.subscribed(TOOLS, "s");
      world.session("s").mode = "lost";
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      await world.allArrive();
      world.kill();
      world.session("s").mode = "ok";
      await world.pass(5000, () => world.allArrive());
      expect(seqsOf(world, "s")).toEqual([1]);
    });
  });

  test("is not notified of a topic from which it has unsubscribed meanwhile", async ({
    expect,
  }) => {
    await withWorld(async (world, { rowsIn }) => {
      await world.subscribed({ a: ["tools", "uri:x"] }, "s");
      world.session("s").mode = "lost";
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools", "uri:x"] });
      await world.allArrive();
      world.branch.unsubscribe("s", { a: ["tools"] });
      world.session("s").mode = "ok";
      await world.pass(5000, () => world.allArrive());
      expect(world.session("s").taken).toEqual([{ slug: "a", seq: 1, topics: ["uri:x"] }]);
      expect(rowsIn("waiting_1")).toBe(0);
    });
  });
});

test("a session that has left what it is behind with is not behind", async ({ expect }) => {
  await withWorld(async (world, { rowsIn }) => {
    await world.subscribed({ a: ["tools", "uri:x"] }, "s");
    world.session("s").mode = "lost";
    world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
    await world.allArrive();
    world.session("s").mode = "ok";
    world.branch.unsubscribe("s", { a: ["tools"] });
    expect(rowsIn("waiting_1")).toBe(0);
    world.branch.publish({ slug: "a", seq: 2, topics: ["uri:x"] });
    await world.allArrive(); // no time passes
    expect(seqsOf(world, "s")).toEqual([2]);
  });
});

describe("the alarm", () => {
  test("is set when news is taken, and stays set until it is handed out", async ({ expect }) => {
    await withWorld(async (world) => {
      await world.subscribed(TOOLS, "s");
      expect(world.alarmAt).toBe(Infinity);
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      expect(world.alarmAt).toBe(Date.now() + 30_000);
      // A branch that dies again and again, and at last when its alarm has just rung.
      for (let seconds = 0; seconds < 30; seconds += 6) {
        await world.pass(6000);
        world.kill();
      }
      expect(world.alarms).toBe(1);
      expect(world.alarmAt).toBeLessThanOrEqual(Date.now() + 30_000);
      await world.allArrive();
      await world.pass(60_000);
      expect(world.alarmAt).toBe(Infinity);
    });
  });

  test.for([
    { name: "news", mode: "hangs", ms: 0 },
    { name: "a session that is behind", mode: "lost", ms: 0 },
    { name: "a feed that has to be told", mode: "ok", ms: 5000 },
  ] as const)("that was lost is set again for $name", async ({ name, mode, ms }, { expect }) => {
    await withWorld(async (world) => {
      await world.subscribed(TOOLS, "s");
      world.session("s").mode = mode;
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      if (name !== "news") await world.allArrive();
      await world.pass(ms);
      if (mode === "ok") world.branch.unsubscribe("s");
      world.alarmAt = Infinity;
      world.kill();
      expect(world.alarmAt).toBeLessThanOrEqual(Date.now() + 30_000);
    });
  });
});

describe("a branch that is lost while it hands out news", () => {
  test("delivers it again by itself, and no session has it twice", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      const names = named(20);
      await world.subscribed({ a: ["tools", "uri:x"] }, ...names);
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      world.branch.publish({ slug: "a", seq: 2, topics: ["uri:x"] });
      await world.pass(0);
      for (let n = 0; n < 10; n += 1) world.arrive(0);
      world.kill();
      world.calls.splice(0, world.calls.length - 20); // those of the life before never arrive
      await world.pass(0, () => world.allArrive());
      for (const name of names) {
        const { taken } = world.session(name);
        expect(taken.flatMap(({ topics }) => topics).toSorted()).toEqual(["tools", "uri:x"]);
      }
      expect(rowsIn("due_1")).toBe(0);
    });
  });

  test("delivers what it was in the middle of before late news", async ({ expect }) => {
    await withWorld(async (world, { sql }) => {
      await world.subscribed({ a: ["tools", "uri:x"] }, "z");
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      await world.pass(0);
      world.branch.publish({ slug: "a", seq: 2, topics: ["uri:x"] }); // it is busy with the first
      await world.pass(0);
      const [first] = world.calls.splice(0);
      expect(first?.to).toBe("session z");
      // The next life is held up before it comes to that session.
      for (const name of named(150, "a")) {
        world.session(name).mode = "hangs";
        sql.exec("INSERT INTO wants_1 VALUES (?, 'a', 'tools', 0)", name);
      }
      world.kill();
      await world.pass(10_000, () => world.allArrive());
      expect(seqsOf(world, "z")).toEqual([1, 2]);
    });
  });

  test("delivers what it may have delivered before apart from what came after", async ({
    expect,
  }) => {
    await withWorld(async (world) => {
      await world.subscribed({ a: ["tools", "uri:x"] }, "s");
      await world.subscribed({ a: ["uri:x"] }, "t");
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      await world.pass(0);
      world.branch.publish({ slug: "a", seq: 2, topics: ["uri:x"] });
      await world.pass(0);
      expect(world.calls.map(({ to }) => to)).toEqual(["session s", "session t"]);
      world.session("s").mode = "deaf"; // it has the first, and the branch does not know
      world.arrive(0);
      world.kill();
      world.session("s").mode = "ok";
      await world.allArrive();
      expect(world.session("s").taken).toEqual([
        { slug: "a", seq: 1, topics: ["tools"] },
        { slug: "a", seq: 2, topics: ["uri:x"] },
      ]);
    });
  });
});
