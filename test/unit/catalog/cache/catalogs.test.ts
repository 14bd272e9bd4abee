/** The copies of catalogs in an isolate, and when it asks the feeds. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import {
  currentCatalog,
  type Known,
  knownCatalog,
  recentCatalog,
} from "../../../../src/catalog/cache/catalogs.ts";
import { clientKind } from "../../../../src/endpoint/client-kind.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import { until } from "../../../support/until.ts";
import {
  catalogOf,
  type FakeFeed,
  FakeFeeds,
  tools,
} from "../../notifications/source/fake-feeds.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const client = clientKind("2026-07-28", {});
const limits = { ...defaultLimits(), catalogWaitMilliseconds: 20 };
const MINUTE_MS = 60_000;

interface World {
  readonly feeds: FakeFeeds;
  readonly feed: FakeFeed;
  readonly server: Server;
  readonly known: () => Promise<Known>;
  readonly current: () => Promise<Known>;
  readonly recent: (since?: number) => Promise<Known>;
  /** How long each question was ready to wait. */
  readonly waits: () => number[];
}

/** A server that nothing is known of yet in this isolate. */
function newWorld(patienceMs = limits.catalogWaitMilliseconds, staleCatalogHours = 24): World {
  const feeds = new FakeFeeds();
  const server = fakeServer("docs");
  const context = {
    feeds,
    limits: { ...limits, catalogWaitMilliseconds: patienceMs, staleCatalogHours },
  };
  const feed = feeds.of("docs");
  feed.has = catalogOf({ lists: { tools: tools("a") } });
  return {
    ...{ feeds, feed, server },
    known: () => knownCatalog(context, server, client),
    current: () => currentCatalog(context, server, client),
    recent: (since = 0) => recentCatalog(context, server, client, since),
    waits: () => feed.asked.map(({ waitMs }) => waitMs),
  };
}

const namesOf = ({ catalog }: Known): string[] | undefined =>
  catalog?.lists.tools.map(({ name }) => name);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function later(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

describe("knownCatalog()", () => {
  test("asks the feed once in five minutes", async ({ expect }) => {
    const { known, feed } = newWorld();
    const first = await known();
    expect(namesOf(first)).toEqual(["a"]);
    feed.has = catalogOf({ lists: { tools: tools("b") } });
    later(5 * MINUTE_MS - 1);
    expect((await known()).catalog).toBe(first.catalog);
    expect(feed.asked).toHaveLength(1);
    later(1);
    expect(namesOf(await known())).toEqual(["b"]);
    expect(feed.asked).toHaveLength(2);
  });

  test("says how long the catalog is fresh, less with time", async ({ expect }) => {
    const { known } = newWorld();
    expect((await known()).freshMs).toBe(10_000);
    later(9000);
    expect((await known()).freshMs).toBe(1000);
    later(2000);
    expect((await known()).freshMs).toBe(0);
  });

  test("does not wait for a newer catalog if there is one", async ({ expect }) => {
    const { known, waits } = newWorld();
    await known();
    later(5 * MINUTE_MS);
    await known();
    expect(waits()).toEqual([0, 0]);
  });

  test("waits if there is no catalog", async ({ expect }) => {
    const { known, feed, waits } = newWorld(5000);
    const { has } = feed;
    feed.has = undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    feed.gate = { opened: promise, heedsWait: true };
    const knowing = known();
    await until(() => waits().includes(5000), "the second question");
    feed.has = has;
    resolve();
    expect(namesOf(await knowing)).toEqual(["a"]);
  });

  test("waits beside other callers that wait", async ({ expect }) => {
    const { known, feed, waits } = newWorld(5000);
    const { has } = feed;
    feed.has = undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    feed.gate = { opened: promise, heedsWait: true };
    const first = known();
    await until(() => waits().includes(5000), "the first to wait");
    const second = known();
    await until(() => waits().length === 4, "the second to wait");
    feed.has = has;
    resolve();
    expect([await first, await second].map(namesOf)).toEqual([["a"], ["a"]]);
  });

  test("does not wait for a server that had no catalog a moment ago", async ({ expect }) => {
    const { known, feed, waits } = newWorld();
    feed.has = undefined;
    feed.trouble = { reason: "unreachable", message: "is down", since: 1 };
    const down = { catalog: undefined, trouble: feed.trouble, freshMs: 0 };
    expect(await known()).toMatchObject(down);
    later(4999);
    expect(await known()).toMatchObject(down);
    expect(waits()).toEqual([0, 20]);
    later(1);
    await known();
    expect(waits()).toEqual([0, 20, 0, 20]);
  });

  test("learns of a recovery from a list", async ({ expect }) => {
    const { known, current, feed } = newWorld();
    const { has } = feed;
    feed.has = undefined;
    await known();
    feed.has = has;
    await current();
    expect(namesOf(await known())).toEqual(["a"]);
  });

  test("keeps kinds of clients, and URLs of a server, apart", async ({ expect }) => {
    const { feeds, feed, server, known } = newWorld();
    await known();
    feed.has = catalogOf({ lists: { tools: tools("b") } });
    const other = clientKind("2026-07-28", { sampling: {} });
    expect(namesOf(await knownCatalog({ feeds, limits }, server, other))).toEqual(["b"]);
    const moved = fakeServer("docs");
    expect(namesOf(await knownCatalog({ feeds, limits }, moved, client))).toEqual(["b"]);
    expect(namesOf(await known())).toEqual(["a"]);
  });
});

describe("currentCatalog()", () => {
  test("always asks, and is not sent a version that it has", async ({ expect }) => {
    const { current, feed } = newWorld();
    const first = await current();
    const second = await current();
    expect(second.catalog).toBe(first.catalog);
    expect(feed.asked.map(({ known }) => known)).toEqual([undefined, feed.has?.version]);
    feed.has = catalogOf({ lists: { tools: tools("b") } });
    expect(namesOf(await current())).toEqual(["b"]);
  });

  test("has one object for a version, however often it is sent", async ({ expect }) => {
    const { current } = newWorld();
    // Both ask before either is answered, so both are sent the whole.
    const [first, second] = await Promise.all([current(), current()]);
    expect(second.catalog).toBe(first.catalog);
    expect((await current()).catalog).toBe(first.catalog);
  });

  test("returns the last good catalog of a failing server", async ({ expect }) => {
    const { current, feed } = newWorld();
    await current();
    feed.trouble = { reason: "timeout", message: "is late", since: 5 };
    const { catalog, trouble } = await current();
    expect([catalog?.version, trouble]).toEqual([feed.has?.version, feed.trouble]);
    feed.trouble = undefined;
    expect((await current()).trouble).toBeUndefined();
  });

  test("keeps its copy if the feed has none, until the hard limit", async ({ expect }) => {
    const { current, known, feed } = newWorld(20, 1);
    await current();
    feed.has = undefined;
    for (const ms of [30 * MINUTE_MS, 30 * MINUTE_MS - 1]) {
      later(ms);
      const { catalog, trouble } = await current();
      expect([catalog?.lists.tools.length, trouble?.reason]).toEqual([1, "slow"]);
    }
    later(2);
    expect((await current()).catalog).toBeUndefined();
    expect((await known()).catalog).toBeUndefined();
  });

  test("counts the age of a failing server's catalog from the failure", async ({ expect }) => {
    const { current, feed } = newWorld(20, 1);
    feed.trouble = { reason: "timeout", message: "is late", since: Date.now() - 50 * MINUTE_MS };
    await current();
    feed.has = undefined;
    later(10 * MINUTE_MS);
    expect(namesOf(await current())).toEqual(["a"]);
    later(1);
    expect((await current()).catalog).toBeUndefined();
  });

  test("forgets the catalog of a server that is not configured any more", async ({ expect }) => {
    const { current, feed } = newWorld();
    await current();
    feed.has = undefined;
    feed.trouble = { reason: "unconfigured", message: "is not there", since: 1 };
    expect((await current()).catalog).toBeUndefined();
  });

  test("does not wait again for a while after a wait in vain", async ({ expect }) => {
    vi.useRealTimers();
    const { current, feed, waits } = newWorld();
    feed.gate = { opened: new Promise(() => undefined), heedsWait: true };
    expect(namesOf(await current())).toEqual(["a"]);
    await current();
    await current();
    expect(waits()).toEqual([20, 0, 0]);
    vi.useFakeTimers({ toFake: ["Date"] });
    later(5000);
    feed.gate = undefined;
    await current();
    expect(waits()).toEqual([20, 0, 0, 20]);
  });

  test("forgets a catalog past the hard limit, also while it does not wait", async ({ expect }) => {
    vi.useRealTimers();
    const { current, known, feed, waits } = newWorld(20, 0);
    feed.gate = { opened: new Promise(() => undefined), heedsWait: true };
    await current();
    feed.has = undefined;
    vi.useFakeTimers({ toFake: ["Date"] });
    later(1);
    expect((await current()).catalog).toBeUndefined();
    expect((await known()).catalog).toBeUndefined();
    expect(waits()).toEqual([20, 0]);
  });

  test("passes a doubt on to the feed", async ({ expect }) => {
    const { feeds, feed, server, current } = newWorld();
    await current();
    await currentCatalog({ feeds, limits }, server, client, true);
    expect(feed.asked.map(({ isDoubted }) => isDoubted)).toEqual([undefined, true]);
  });

  test("repeats the question to a feed that fails, after a moment", async ({ expect }) => {
    vi.useFakeTimers();
    const { current, feed } = newWorld();
    feed.failures = 1;
    const asked = current();
    await vi.advanceTimersByTimeAsync(40);
    expect(feed.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(40);
    expect(namesOf(await asked)).toEqual(["a"]);
    expect(feed.asked).toHaveLength(2);
  });

  test("names the feed that has not answered: it is to announce its lists", async ({ expect }) => {
    const { current, feed } = newWorld();
    expect(await current()).not.toHaveProperty("announcer");
    feed.failures = 2;
    const { announcer } = await current();
    expect(announcer?.key).toBe("docs");
    await announcer?.announce();
    expect(feed.announcing.done).toBe(1);
  });

  test.for([{ isKnown: true }, { isKnown: false }])(
    "never rejects when the feed does (known before: $isKnown)",
    async ({ isKnown }, { expect }) => {
      const { current, feed } = newWorld();
      if (isKnown) await current();
      feed.failures = 100;
      later(1000);
      const failedAt = Date.now();
      const failed = await current();
      expect(namesOf(failed)).toEqual(isKnown ? ["a"] : undefined);
      expect(failed.freshMs).toBe(0);
      expect(failed.trouble).toEqual({
        ...{ reason: "gateway", since: failedAt },
        message: 'The gateway cannot tell at the moment what upstream "docs" has',
      });
      expect(feed.asked).toHaveLength(isKnown ? 3 : 2);
      later(1000);
      // It has been so since it began.
      expect((await current()).trouble?.since).toBe(failedAt);
      feed.failures = 0;
      expect((await current()).trouble).toBeUndefined();
    },
  );

  test("forgets a catalog that its feed has not confirmed for an hour", async ({ expect }) => {
    const { current, known, feed } = newWorld();
    await current();
    feed.failures = Infinity;
    later(60 * MINUTE_MS - 1);
    expect(namesOf(await current())).toEqual(["a"]);
    later(1);
    expect(namesOf(await current())).toBeUndefined();
    expect(namesOf(await known())).toBeUndefined();
  });

  test("does not wait for a feed that does not answer", async ({ expect }) => {
    vi.useRealTimers();
    const { current, known, feed } = newWorld();
    await current();
    feed.gate = { opened: new Promise(() => undefined), heedsWait: false };
    const stuck = await current();
    expect(namesOf(stuck)).toEqual(["a"]);
    expect(stuck.trouble?.reason).toBe("gateway");
    expect(namesOf(await known())).toEqual(["a"]);
  });

  test("does not replace a newer copy by a late answer", async ({ expect }) => {
    const { current, known, feed } = newWorld();
    await current();
    const { promise, resolve } = Promise.withResolvers<void>();
    feed.gate = { opened: promise, heedsWait: false };
    const late = current();
    feed.gate = undefined;
    const old = feed.has;
    feed.has = catalogOf({ lists: { tools: tools("b") } });
    await current();
    feed.has = old;
    resolve();
    // It was asked whether this still is so, and at that time it was.
    expect(namesOf(await late)).toEqual(["a"]);
    expect(namesOf(await known())).toEqual(["b"]);
  });
});

describe("recentCatalog()", () => {
  test("takes a copy of a moment ago, and asks for an older one", async ({ expect }) => {
    const { recent, feed } = newWorld();
    await recent();
    later(limits.catalogFreshSeconds * 1000 - 1);
    await recent();
    expect(feed.asked).toHaveLength(1);
    later(1);
    await recent();
    expect(feed.asked).toHaveLength(2);
  });

  test("takes no copy of before the first page was asked for", async ({ expect }) => {
    const { recent, feed } = newWorld();
    await recent();
    await recent(Date.now());
    expect(feed.asked).toHaveLength(1);
    await recent(Date.now() + 1);
    expect(feed.asked).toHaveLength(2);
  });

  test("takes no copy for which the feed was asked before that", async ({ expect }) => {
    const { recent, feed } = newWorld();
    const { promise, resolve } = Promise.withResolvers<void>();
    feed.gate = { opened: promise, heedsWait: false };
    const asking = recent();
    later(2);
    resolve();
    await asking;
    await recent(Date.now() - 1);
    expect(feed.asked).toHaveLength(2);
  });
});
