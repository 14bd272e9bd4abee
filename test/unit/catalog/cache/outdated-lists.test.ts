/** How a feed is told that a list has changed, by a fake clock: surely, in few calls, and before the client is. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { OutdatedLists } from "../../../../src/catalog/cache/outdated-lists.ts";
import type { ListTopic } from "../../../../src/catalog/topics.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";
import { type FakeFeed, FakeFeeds } from "../../notifications/source/fake-feeds.ts";

interface World {
  readonly feed: FakeFeed;
  readonly tell: (list: ListTopic) => Promise<void>;
  readonly kept: Promise<unknown>[];
  /** Holds the calls to the feed up. @returns a function that lets them go on. */
  readonly hold: () => () => void;
}

function newWorld(): World {
  const feeds = new FakeFeeds();
  const feed = feeds.of("docs");
  const server = fakeServer("docs");
  const kept: Promise<unknown>[] = [];
  const lists = new OutdatedLists({ feeds, waitUntil: (work) => void kept.push(work) });
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    feed.gate = { opened: promise, heedsWait: false };
    return resolve;
  };
  return { feed, kept, hold, tell: (list) => lists.tell(server, list) };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a feed", () => {
  test.for([
    { how: "that answers", failures: 0, ms: 0, told: ["tools"] },
    { how: "that fails once", failures: 1, ms: 100, told: ["tools"] },
    { how: "that cannot be reached for some seconds", failures: 6, ms: 6300, told: ["tools"] },
    { how: "that cannot be reached", failures: 1000, ms: 60_000, told: [] },
  ])("$how is told", async ({ failures, ms, told }, { expect }) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const { feed, kept, tell } = newWorld();
    feed.failures = failures;
    const telling = tell("tools");
    await vi.advanceTimersByTimeAsync(ms);
    await Promise.all([telling, ...kept]);
    expect(feed.outdatedLists).toEqual(told);
    expect(log).toHaveBeenCalledTimes(told.length === 0 ? 1 : 0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that does not answer is waited for no longer than a second", async ({ expect }) => {
    const { feed, kept, hold, tell } = newWorld();
    const release = hold();
    const telling = tell("tools");
    await vi.advanceTimersByTimeAsync(1000);
    await telling;
    expect(feed.outdatedLists).toEqual([]);
    release();
    await Promise.all(kept);
    expect(feed.outdatedLists).toEqual(["tools"]);
  });

  test("is told once more of what is reported while it is told", async ({ expect }) => {
    const { feed, kept, hold, tell } = newWorld();
    const release = hold();
    const first = tell("tools");
    await vi.advanceTimersByTimeAsync(0);
    const rest = (["tools", "prompts", "tools", "tools"] as const).map(tell);
    release();
    await Promise.all([first, ...rest]);
    expect(feed.outdatedLists.toSorted()).toEqual(["prompts", "tools", "tools"]);
    await Promise.all(kept);
    await tell("tools");
    expect(feed.outdatedLists).toHaveLength(4);
  });
});
