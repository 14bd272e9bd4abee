/** Lists that could not be made whole: whoever listens hears of them once their source can be reached. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { announceLater } from "../../../../src/catalog/lists/announce-later.ts";
import { listing, mergedWorld, namesIn, pageOf } from "./merged-world.ts";

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

let count = 0;

/** A source that is away until it is told otherwise. */
function newSource() {
  const source = {
    key: `source ${count++}`,
    isAway: true,
    asked: 0,
    announced: 0,
    announce: async (): Promise<void> => {
      source.asked += 1;
      if (source.isAway) throw new Error("The object is overloaded");
      source.announced += 1;
    },
  };
  return source;
}

describe("a source of a list that has not answered", () => {
  test("is asked to announce it until it has, and no longer than an answer's work lasts", async ({
    expect,
  }) => {
    const source = newSource();
    const first = announceLater(source);
    await vi.advanceTimersByTimeAsync(5000);
    source.isAway = false;
    await vi.advanceTimersByTimeAsync(5000);
    await first;
    expect(source.announced).toBe(1);
    source.isAway = true;
    source.asked = 0;
    const second = announceLater(source);
    await vi.advanceTimersByTimeAsync(28_000);
    await second;
    expect(source.asked).toBeGreaterThan(4);
  });

  test("is not asked by each of many answers, which all come before it announces", async ({
    expect,
  }) => {
    const source = newSource();
    const all = Array.from({ length: 1000 }, () => announceLater(source));
    await vi.advanceTimersByTimeAsync(2000);
    expect(source.asked).toBeLessThan(6);
    source.isAway = false;
    await vi.advanceTimersByTimeAsync(28_000);
    await Promise.all(all);
    expect(source.announced).toBe(1);
  });

  test("is asked by another answer where the one that asks is given up", async ({ expect }) => {
    const source = newSource();
    const { announce } = source;
    // Its request ends in the middle of the call.
    source.announce = () => new Promise(() => undefined);
    void announceLater(source);
    source.announce = announce;
    source.isAway = false;
    const other = announceLater(source);
    await vi.advanceTimersByTimeAsync(5000);
    await other;
    expect(source.announced).toBe(1);
  });

  test("announces again to whoever was given the list after that", async ({ expect }) => {
    const source = newSource();
    source.isAway = false;
    await announceLater(source);
    await vi.advanceTimersByTimeAsync(10);
    const later = announceLater(source);
    await vi.advanceTimersByTimeAsync(5000);
    await later;
    expect(source.announced).toBe(2);
  });
});

test("a page asks the feeds for that whose lists it has not got", async ({ expect }) => {
  const world = mergedWorld({ one: listing("a"), two: listing("b") });
  const feed = world.feeds.of("two");
  feed.failures = 3;
  const page = pageOf(world);
  await vi.advanceTimersByTimeAsync(100);
  expect(namesIn(await page)).toEqual(["one__a"]);
  await vi.advanceTimersByTimeAsync(5000);
  await Promise.all(world.left);
  expect(feed.announcing.done).toBe(1);
  expect(world.feeds.of("one").announcing.asked).toBe(0);
});
