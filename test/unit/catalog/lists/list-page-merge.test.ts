/** Merging: the pages together are the list, whichever server answers first, and none waits for the slowest. */

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { type Item, LIST_KINDS, LISTS, type ListKind } from "../../../../src/catalog/catalog.ts";
import { listPage } from "../../../../src/catalog/lists/list-page.ts";
import { until } from "../../../support/until.ts";
import { catalogOf, things } from "../../notifications/source/fake-feeds.ts";
import {
  allPages,
  CLIENT,
  mergedWorld,
  namesIn,
  pageOf,
  resultOf,
  thingsIn,
  listing,
} from "./merged-world.ts";

const NAMES = ["a", "b", "c", "search", "two__a", "é", "a b", "__proto__", "", "x".repeat(80)];

/** No template fits what is listed, which would be a conflict. */
const namesFor = (list: ListKind) =>
  NAMES.map((name) => (list === "templates" ? `t:${name}` : name));
const listOf = (list: ListKind) =>
  fc
    .uniqueArray(fc.constantFrom(...namesFor(list)), { maxLength: 8 })
    .map((names) =>
      names.map((name): Item => ({ name, text: JSON.stringify({ [LISTS[list].name]: name }) })),
    );
const contents = fc.record({
  tools: listOf("tools"),
  resources: listOf("resources"),
  templates: listOf("templates"),
  prompts: listOf("prompts"),
});
const SLUGS = ["one", "two", "three", "two-", "o"];
const servers = fc.array(contents, { minLength: 2, maxLength: SLUGS.length });

describe("the pages of a list", () => {
  test("together are the merged list, whatever their sizes", async ({ expect }) => {
    const sizes = fc.record({
      listPageItems: fc.integer({ min: 1, max: 9 }),
      listPageBytes: fc.integer({ min: 1, max: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(
        servers,
        sizes,
        fc.constantFrom(...LIST_KINDS),
        async (all, limits, list) => {
          const parts = Object.fromEntries(
            all.map((lists, n) => [SLUGS[n] ?? "", { catalog: catalogOf({ lists }) }]),
          );
          const world = mergedWorld(parts, limits);
          const pages = await allPages(world, { list });
          const names = pages.flatMap((page) => namesIn(page, list)).map(String);
          expect(new Set(names).size).toBe(names.length);
          for (const page of pages.slice(0, -1))
            expect(thingsIn(page, list).length).toBeGreaterThan(0);
          for (const page of pages)
            expect(thingsIn(page, list).length).toBeLessThanOrEqual(limits.listPageItems);

          const listed = all.flatMap((lists) => lists[list].map(({ name }) => name));
          if (list === "resources" || list === "templates") {
            expect(names).toEqual([...new Set(listed)]);
          } else {
            expect(names).toHaveLength(listed.length);
            const whole = await allPages(
              { ...world, limits: { ...world.limits, listPageItems: 1000, listPageBytes: 1e6 } },
              { list },
            );
            expect(names).toEqual(whole.flatMap((page) => namesIn(page, list)));
            for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,44}$/);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("are the same whichever server answers first", async ({ expect }) => {
    const order = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 });
    await fc.assert(
      fc.asyncProperty(servers, order, fc.constantFrom(...LIST_KINDS), async (all, order, list) => {
        const parts = Object.fromEntries(
          all.map((lists, n) => [SLUGS[n] ?? "", { catalog: catalogOf({ lists }) }]),
        );
        const atOnce = await allPages(mergedWorld(parts, { listPageItems: 3 }), { list });
        const world = mergedWorld(parts, { listPageItems: 3, catalogWaitMilliseconds: 60_000 });
        const gates = all.map((_, n) => {
          const { promise, resolve } = Promise.withResolvers<void>();
          world.feeds.of(SLUGS[n] ?? "").gate = { opened: promise, heedsWait: false };
          return resolve;
        });
        const listing = allPages(world, { list });
        for (const n of order) {
          gates[n]?.();
          await Promise.resolve();
        }
        const namesOf = (pages: Awaited<typeof listing>): unknown =>
          pages.map((page) => thingsIn(page, list));
        expect(namesOf(await listing)).toEqual(namesOf(atOnce));
      }),
      { numRuns: 100 },
    );
  });
});

describe("a page", () => {
  const never = { opened: new Promise<void>(() => undefined), heedsWait: false };

  test("asks all servers at once", async ({ expect }) => {
    const slugs = Array.from({ length: 50 }, (_, n) => `s${n}`);
    const world = mergedWorld(Object.fromEntries(slugs.map((slug) => [slug, listing("a")])));
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const slug of slugs) world.feeds.of(slug).gate = { opened: promise, heedsWait: false };
    const page = listPage(world, { client: CLIENT, list: "tools" });
    await until(
      () => slugs.every((slug) => world.feeds.of(slug).asked.length === 1),
      "all to be asked",
    );
    resolve();
    expect(namesIn(resultOf(await page))).toHaveLength(50);
  });

  test("that is full waits for no server, and late catalogs are ready for the next page", async ({
    expect,
  }) => {
    const world = mergedWorld(
      { one: listing("a", "b"), two: listing("c"), three: listing("d") },
      { listPageItems: 3, catalogWaitMilliseconds: 60_000 },
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    world.feeds.of("three").gate = { opened: promise, heedsWait: false };
    expect(namesIn(await pageOf(world))).toEqual(["one__a", "one__b", "two__c"]);
    // The Worker is kept until it has come.
    expect(world.left).toHaveLength(3);
    resolve();
    await Promise.all(world.left);
  });

  test("has the known items of servers whose feeds are stuck, and waits once for all of them", async ({
    expect,
  }) => {
    const slugs = Array.from({ length: 20 }, (_, n) => `stuck${n}`);
    const world = mergedWorld(
      Object.fromEntries([...slugs, "last"].map((slug) => [slug, listing("a")])),
    );
    await pageOf(world);
    for (const slug of slugs) world.feeds.of(slug).gate = never;
    const startedAt = Date.now();
    const page = await pageOf(world);
    // One patience and one grace, and not twenty.
    expect(Date.now() - startedAt).toBeLessThan(3000);
    expect(namesIn(page)).toHaveLength(21);
    expect(JSON.stringify(page["_meta"])).toContain('"server":"stuck19","state":"failing"');
  });

  test("of few items waits for a slow server no longer than it may", async ({ expect }) => {
    const world = mergedWorld({
      one: listing("a"),
      slow: { catalog: undefined },
      two: listing("b"),
    });
    world.feeds.of("slow").gate = { ...never, heedsWait: true };
    const page = await pageOf(world);
    expect(namesIn(page)).toEqual(["one__a", "two__b"]);
    expect(JSON.stringify(page["_meta"])).toContain('"server":"slow","state":"down"');
    expect(world.feeds.of("slow").asked.map(({ waitMs }) => waitMs)).toEqual([20]);
  });

  test("that continues a list asks no feed again that was asked a moment ago", async ({
    expect,
  }) => {
    const world = mergedWorld(
      { one: listing("a", "b", "c"), two: listing("d") },
      { listPageItems: 1, catalogFreshSeconds: 10 },
    );
    expect(await allPages(world)).toHaveLength(4);
    expect(world.feeds.of("one").asked).toHaveLength(1);
    expect(world.feeds.of("two").asked).toHaveLength(1);
    await pageOf(world);
    expect(world.feeds.of("one").asked).toHaveLength(2);
  });

  test("that continues a list of tools does not look at earlier servers", async ({ expect }) => {
    const world = mergedWorld({ one: listing("a"), two: listing("b", "c") }, { listPageItems: 2 });
    const first = await pageOf(world);
    await pageOf(world, { cursor: first["nextCursor"] });
    expect(world.feeds.of("one").asked).toHaveLength(1);
  });
});

/** Reads pages in an isolate that has no copies yet. */
const newIsolate = async (): Promise<typeof listPage> => {
  vi.setSystemTime(Date.now() + 1);
  vi.resetModules();
  return (await import("../../../../src/catalog/lists/list-page.ts")).listPage;
};

const offering = (...names: readonly string[]) => ({
  catalog: catalogOf({ lists: { resources: things("uri", names) } }),
});

describe("a page in an isolate whose copies are of before the first page", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const limits = { listPageItems: 1, catalogFreshSeconds: 10 };
  const question = { client: CLIENT, list: "resources" } as const;

  test("is of the list that the first page was of", async ({ expect }) => {
    const world = mergedWorld({ one: offering("r:1", "r:2"), two: offering() }, limits);
    await pageOf(world, question);
    const elsewhere = await newIsolate();
    world.feeds.of("one").has = offering("r:1", "r:3").catalog;
    const { nextCursor: cursor } = resultOf(await elsewhere(world, question));
    expect(namesIn(await pageOf(world, { ...question, cursor }), "resources")).toEqual(["r:3"]);
  });

  test("has what an earlier server does not list any more", async ({ expect }) => {
    const world = mergedWorld({ one: offering("r:1", "r:3"), two: offering("r:2") }, limits);
    await pageOf(world, question);
    const elsewhere = await newIsolate();
    world.feeds.of("one").has = offering("r:1").catalog;
    world.feeds.of("two").has = offering("r:2", "r:3").catalog;
    const { nextCursor } = resultOf(await elsewhere(world, question));
    const second = resultOf(await elsewhere(world, { ...question, cursor: nextCursor }));
    expect(namesIn(second, "resources")).toEqual(["r:2"]);
    const third = await pageOf(world, { ...question, cursor: second["nextCursor"] });
    expect(namesIn(third, "resources")).toEqual(["r:3"]);
  });
});

describe("50 servers with 200 tools each", () => {
  test("are listed completely, in pages of a thousand, each within its bytes", async ({
    expect,
  }) => {
    const description = "What this tool does, when it is of use, and what it gives back. ".repeat(
      6,
    );
    const inputSchema = {
      type: "object",
      properties: { query: { type: "string", description: "What to look for" } },
    };
    const parts = Object.fromEntries(
      Array.from({ length: 50 }, (_, s) => {
        const items = Array.from({ length: 200 }, (_, n): Item => {
          const name = `tool_${n}_of_${s}`;
          return { name, text: JSON.stringify({ name, description, inputSchema }) };
        });
        return [`server-${s}`, { catalog: catalogOf({ lists: { tools: items } }) }] as const;
      }),
    );
    const world = mergedWorld(parts);
    const pages = await allPages(world);
    const names = pages.flatMap((page) => namesIn(page));
    const union = Array.from({ length: 50 }, (_, s) => s).flatMap((s) =>
      Array.from({ length: 200 }, (_, n) => `server-${s}__tool_${n}_of_${s}`),
    );
    expect(names).toEqual(union);
    for (const page of pages) {
      expect(thingsIn(page).length).toBeLessThanOrEqual(1000);
      expect(JSON.stringify(page).length).toBeLessThan(world.limits.listPageBytes + 100_000);
    }
    const found = await allPages(world, { search: "tool_7_of_" });
    expect(found.flatMap((page) => namesIn(page))).toHaveLength(50);
  });
});
