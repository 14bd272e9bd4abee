/** How a branch notifies modern listeners: at once, and no further ahead than they read. */

import { describe, test, vi } from "vitest";

import type { Interests } from "../../../../src/catalog/feeds.ts";
import type { FakeSocket } from "./fan-out-fakes.ts";
import { STALL_SECONDS, useWorldTime, withWorld, type World } from "./fan-out-world.ts";

useWorldTime();

const TOOLS: Interests = { a: ["tools"] };

async function listening(world: World, id: string, interests = TOOLS): Promise<FakeSocket> {
  const socket = world.listen(id, interests);
  await world.allArrive();
  world.read(socket);
  return socket;
}

/** Publishes until it is told no more. @returns how often that was. */
function fill(world: World, socket: FakeSocket): number {
  let seq = 0;
  for (let before = -1; before < socket.lines.length;) {
    before = socket.lines.length;
    world.branch.publish({ slug: "a", seq: (seq += 1), topics: ["tools"] });
  }
  return seq;
}

describe("a listener", () => {
  test("learns what is honoured, and then at once what changes", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      const socket = await listening(world, "l", { a: ["tools", "uri:unknown"], b: ["uri:x"] });
      expect(socket.honoured).toEqual({ a: ["tools"], b: ["uri:x"] });
      world.branch.publish({ slug: "a", seq: 3, topics: ["prompts", "tools"] });
      world.branch.publish({ slug: "b", seq: 1, topics: ["prompts"] });
      world.branch.publish({ slug: "b", seq: 2, topics: ["uri:x"] });
      expect(socket.news).toEqual([
        { slug: "a", seq: 3, topics: ["tools"] },
        { slug: "b", seq: 2, topics: ["uri:x"] },
      ]);
      // Nothing has to be remembered for it.
      expect([rowsIn("due_1"), rowsIn("accepted_1")]).toEqual([0, 0]);
    });
  });

  test("is notified after its answer of what changed before it", async ({ expect }) => {
    await withWorld(async (world) => {
      const socket = world.listen("l", TOOLS);
      await world.pass(0);
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      expect(socket.lines).toEqual([]);
      await world.allArrive();
      expect(socket.honoured).toEqual(TOOLS);
      expect(socket.news).toEqual([{ slug: "a", seq: 1, topics: ["tools"] }]);
    });
  });

  test("that hangs up leaves nothing behind, whenever it does", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      await listening(world, "l1");
      world.hangUp("l1");
      world.listen("l2", TOOLS);
      await world.pass(0);
      world.hangUp("l2");
      await world.allArrive();
      expect(rowsIn("wants_1")).toBe(0);
      await world.pass(31_000, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual([]);
    });
  });

  test("that hangs up while a new server is made known leaves nothing behind", async ({
    expect,
  }) => {
    await withWorld(async (world, { rowsIn }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      world.learning = promise;
      world.listen("l", { new: ["tools"] });
      await world.pass(0);
      world.hangUp("l");
      resolve();
      await world.allArrive();
      expect(rowsIn("wants_1")).toBe(0);
    });
  });

  test("whose socket is broken is closed, and the others are notified", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      const sockets = [];
      for (const id of ["l1", "l2", "l3"]) sockets.push(await listening(world, id));
      const [, broken] = sockets;
      if (broken !== undefined) broken.isBroken = true;
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      expect(sockets.map(({ news }) => news.length)).toEqual([1, 0, 1]);
      expect(broken?.closed).toBe(1012);
      expect(rowsIn("wants_1")).toBe(2);
    });
  });
});

describe("a listener that does not read", () => {
  test("is sent no more than a window, and then each change once", async ({ expect }) => {
    await withWorld(
      async (world) => {
        const socket = await listening(world, "l", { a: ["tools", "uri:x"], b: ["tools"] });
        const another = await listening(world, "l2");
        const last = fill(world, socket);
        expect(last).toBeGreaterThan(2);
        expect(socket.unread).toBeLessThan(300);
        for (let seq = last + 1; seq < last + 50; seq += 1) {
          world.read(another);
          world.branch.publish({ slug: "a", seq, topics: ["tools", "uri:x"] });
          world.branch.publish({ slug: "b", seq, topics: ["tools"] });
        }
        expect(another.news).toHaveLength(last + 49);
        const before = socket.news.length;
        world.read(socket);
        expect(socket.news.slice(before)).toEqual([
          { slug: "a", seq: last + 49, topics: ["tools", "uri:x"] },
          { slug: "b", seq: last + 49, topics: ["tools"] },
        ]);
        // It has caught up: nothing keeps the branch awake.
        expect(vi.getTimerCount()).toBe(0);
        await world.pass(STALL_SECONDS * 3000);
        expect(socket.closed).toBe(undefined);
      },
      { windowBytes: 200 },
    );
  });

  test("for long must reconnect", async ({ expect }) => {
    await withWorld(
      async (world, { rowsIn }) => {
        const sockets = [await listening(world, "l1"), await listening(world, "l2")];
        const [still, moving] = sockets;
        if (still === undefined || moving === undefined) throw new Error("unreachable");
        fill(world, still);
        for (let seconds = 0; seconds < STALL_SECONDS * 2; seconds += 20) {
          await world.pass(20_000);
          world.branch.publish({ slug: "a", seq: 1000 + seconds, topics: ["tools"] });
          if (seconds === 0) expect(still.closed).toBe(undefined);
          // One that takes something is slow, and no more.
          moving.unread = 1;
          world.read(moving);
        }
        expect([still.closed, moving.closed]).toEqual([1012, undefined]);
        expect(rowsIn("wants_1")).toBe(1);
      },
      { windowBytes: 200 },
    );
  });

  test("still counts when the branch was let go meanwhile", async ({ expect }) => {
    await withWorld(
      async (world) => {
        const socket = await listening(world, "l");
        world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
        for (let seq = 2; seq < 10; seq += 1) {
          world.evict();
          if (socket.closed !== undefined) break;
          world.branch.publish({ slug: "a", seq, topics: ["tools"] });
        }
        // What waited for room in memory is lost: it has to know.
        expect(socket.closed).toBe(1012);
        expect(socket.news.length).toBeLessThan(8);
      },
      { windowBytes: 200 },
    );
  });
});

describe("when the branch was let go", () => {
  test("listeners go on", async ({ expect }) => {
    await withWorld(async (world) => {
      const socket = await listening(world, "l");
      world.branch.publish({ slug: "a", seq: 1, topics: ["tools"] });
      world.evict();
      world.branch.publish({ slug: "a", seq: 2, topics: ["tools"] });
      expect(socket.news.map(({ seq }) => seq)).toEqual([1, 2]);
      expect(socket.closed).toBe(undefined);
      world.read(socket);
      world.hangUp("l");
      await world.pass(31_000, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual([]);
    });
  });

  test("one that has had no answer yet must reconnect", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      const socket = world.listen("l", TOOLS);
      await world.pass(0);
      world.evict();
      expect(socket.closed).toBe(1012);
      expect(rowsIn("wants_1")).toBe(0);
    });
  });

  test("those whose sockets broke then are forgotten", async ({ expect }) => {
    await withWorld(async (world, { rowsIn }) => {
      for (let n = 0; n < 5; n += 1) await listening(world, `l${n}`);
      await world.subscribed(TOOLS, "s");
      for (const id of ["l1", "l3"]) world.sockets.delete(id);
      world.evict();
      expect(rowsIn("wants_1")).toBe(4);
      world.kill();
      expect(rowsIn("wants_1")).toBe(1);
    });
  });
});
