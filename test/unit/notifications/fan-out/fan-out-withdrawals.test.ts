/** A withdrawal that is due while the same topic is being asked for: the feed may carry out the two in any order. */

import { describe, test, vi } from "vitest";

import type { Interests } from "../../../../src/catalog/feeds.ts";
import { useWorldTime, withWorld, type World } from "./fan-out-world.ts";

useWorldTime();

const HOUR_MS = 3_600_000;
const RESOURCE: Interests = { a: ["uri:x"] };

/** A branch that sleeps, and is about to withdraw what its only subscriber has left. */
async function leaving(world: World, interests: Interests): Promise<void> {
  await world.subscribed(interests, "s1");
  world.branch.unsubscribe("s1");
  world.evict();
  await world.pass(29_000, () => world.allArrive());
}

/** The alarm of the withdrawal fires while the feed has not answered whoever has asked since. */
async function due(world: World): Promise<void> {
  await world.pass(1500);
}

describe("a topic that is asked for while its withdrawal is due", () => {
  test("by a subscriber who leaves again is asked for by the next one", async ({ expect }) => {
    await withWorld(async (world) => {
      await leaving(world, RESOURCE);
      const second = world.branch.subscribe("s2", RESOURCE);
      await vi.advanceTimersByTimeAsync(0);
      world.branch.unsubscribe("s2");
      await due(world);
      await world.allArrive();
      expect(await second).toEqual({});
      const third = world.branch.subscribe("s3", RESOURCE);
      await world.allArrive();
      expect(await third).toEqual(RESOURCE);
      await world.pass(HOUR_MS, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual(["uri:x"]);
    });
  });

  test("by a listener who goes and is back stays watched", async ({ expect }) => {
    await withWorld(async (world) => {
      await leaving(world, { a: ["tools"] });
      world.listen("l1", { a: ["tools"] });
      await vi.advanceTimersByTimeAsync(0);
      world.hangUp("l1");
      await due(world);
      const again = world.listen("l2", { a: ["tools"] });
      await world.allArrive();
      expect(again.honoured).toEqual({ a: ["tools"] });
      await world.pass(HOUR_MS, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual(["tools"]);
    });
  });

  test("by nobody who stays is watched for nobody, whatever arrives first", async ({ expect }) => {
    await withWorld(async (world) => {
      await leaving(world, RESOURCE);
      void world.branch.subscribe("s2", RESOURCE);
      await vi.advanceTimersByTimeAsync(0);
      world.branch.unsubscribe("s2");
      await due(world);
      if (world.calls.length > 1) world.arrive(1);
      await world.allArrive();
      await world.pass(HOUR_MS, () => world.allArrive());
      expect([...world.feed("a").watched]).toEqual([]);
    });
  });
});
