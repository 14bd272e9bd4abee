/** The cursors of merged lists: who may use them, and where they lead when lists change in between. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { badCursor } from "../../../../src/catalog/lists/list-cursors.ts";
import { listPage } from "../../../../src/catalog/lists/list-page.ts";
import { sealFor } from "../../../../src/endpoint/sealed.ts";
import type { RequestScope } from "../../../../src/catalog/request-scope.ts";
import type { Reply } from "../../../../src/protocol/json-rpc.ts";
import { catalogOf, things } from "../../notifications/source/fake-feeds.ts";
import { allPages, CLIENT, keysOf, mergedWorld, namesIn, pageOf, listing } from "./merged-world.ts";

const LETTERS = Array.from("abcdefghijkl");
const ONE_EACH = { listPageItems: 1 };

const answer = (there: RequestScope, cursor: unknown): Promise<Reply> =>
  listPage(there, { client: CLIENT, list: "tools", cursor });

describe("a cursor is invalid", () => {
  const world = mergedWorld({ one: listing("a", "b"), two: listing("c") }, ONE_EACH);
  const given = async (): Promise<string> => String((await pageOf(world))["nextCursor"]);
  const invalid = {
    error: { code: -32602, message: "Invalid cursor: list again from the beginning" },
  };

  const without = (slug: string): RequestScope => {
    const [first, ...others] = world.endpoint.servers.filter((server) => server.slug !== slug);
    if (first === undefined) throw new Error("no server is left");
    return { ...world, endpoint: { ...world.endpoint, servers: [first, ...others] } };
  };
  const elsewhere: { name: string; there: RequestScope }[] = [
    { name: "for another principal", there: { ...world, principal: "mallory" } },
    { name: "at another endpoint", there: { ...world, route: "/mcp/one" } },
    { name: "at another gateway", there: { ...world, keys: keysOf(2) } },
    { name: "when its server is gone", there: without("one") },
  ];
  test.for(elsewhere)("$name", async ({ there }, { expect }) => {
    const cursor = await given();
    expect(await answer(there, cursor)).toEqual(invalid);
    expect(await answer(world, cursor)).toHaveProperty("result");
  });

  test("in another list", async ({ expect }) => {
    const cursor = await given();
    for (const list of ["prompts", "resources", "templates"] as const) {
      expect(await listPage(world, { client: CLIENT, list, cursor })).toEqual(invalid);
    }
  });

  test("when any character is changed, and the error is always the same", async ({ expect }) => {
    const cursor = await given();
    const broken = [...Array(cursor.length).keys()].map(
      (at) => `${cursor.slice(0, at)}${cursor[at] === "A" ? "B" : "A"}${cursor.slice(at + 1)}`,
    );
    const bad = ["", " ", "1", `${cursor}A`, `${cursor}\n`, cursor.slice(1), ...broken];
    for (const each of [...bad, null, 7, {}, [cursor], true]) {
      expect(await answer(world, each)).toEqual(invalid);
    }
    expect(badCursor()).toEqual(invalid);
  });

  test("if it was sealed for another purpose", async ({ expect }) => {
    const place = { list: "tools", slug: "one", index: 0, after: "a", told: 1 };
    const sealed = (purpose: "cursor" | "request-state", value: unknown): Promise<string> =>
      sealFor(world, purpose, value);
    expect(await answer(world, await sealed("cursor", place))).toHaveProperty("result");
    expect(await answer(world, await sealed("request-state", place))).toEqual(invalid);
    for (const value of [
      null,
      "one",
      [place],
      {},
      { ...place, slug: 1 },
      { ...place, index: "0" },
      { ...place, told: null },
      { ...place, since: "1" },
    ]) {
      expect(await answer(world, await sealed("cursor", value))).toEqual(invalid);
    }
  });
});

describe("a cursor reveals nothing", () => {
  test("about the servers, and is different each time", async ({ expect }) => {
    const world = mergedWorld({ hidden: listing("secret", "b"), two: listing() }, ONE_EACH);
    const cursors = [await pageOf(world), await pageOf(world)].map((page) =>
      String(page["nextCursor"]),
    );
    expect(cursors[0]).not.toBe(cursors[1]);
    for (const cursor of cursors) {
      const sealed = cursor.split(".").at(-1) ?? "";
      expect(atob(sealed.replaceAll("-", "+").replaceAll("_", "/"))).not.toMatch(/hidden|secret/);
    }
  });
});

describe("when a list changes between pages", () => {
  const rows: { name: string; after: string[]; second: string[] }[] = [
    { name: "at the beginning", after: ["new", "a", "b", "c", "d"], second: ["c", "d"] },
    { name: "right behind", after: ["a", "b", "new", "c", "d"], second: ["new", "c", "d"] },
    { name: "by loss of what was listed", after: ["b", "c", "d"], second: ["c", "d"] },
    { name: "by loss of the last that was listed", after: ["a", "c", "d"], second: ["c", "d"] },
    { name: "by loss of what was next", after: ["a", "b", "d"], second: ["d"] },
    { name: "to a shorter one", after: [], second: [] },
    { name: "in its order", after: ["d", "c", "b", "a"], second: ["a"] },
  ];
  test.for(rows)(
    "$name, the next page goes on behind the last thing",
    async ({ after, second }, { expect }) => {
      const world = mergedWorld(
        { one: listing("a", "b", "c", "d"), two: listing("z") },
        { listPageItems: 2 },
      );
      const pages = await allPages(world, {}, (n) => {
        if (n === 1) world.feeds.of("one").has = listing(...after).catalog;
      });
      const listed = pages.slice(1).flatMap((page) => namesIn(page));
      expect(listed).toEqual([...second.map((name) => `one__${name}`), "two__z"]);
    },
  );

  test("the list goes on when the server of the cursor is down", async ({ expect }) => {
    const world = mergedWorld({ one: listing("a", "b"), two: listing("z") }, ONE_EACH);
    const [, ...rest] = await allPages(world, {}, () => {
      const feed = world.feeds.of("one");
      feed.has = undefined;
      feed.trouble = { reason: "unconfigured", message: "is not there", since: 1 };
    });
    expect(rest.flatMap((page) => namesIn(page))).toEqual(["two__z"]);
    expect(JSON.stringify(rest[0]?.["_meta"])).toContain('"server":"one","state":"down"');
  });

  test("an item whose name is too long for a cursor is found by its index", async ({ expect }) => {
    const uris = ["a", "b", "c"].map((letter) => `r:${letter.repeat(100_000)}`);
    const world = mergedWorld(
      {
        one: { catalog: catalogOf({ lists: { resources: things("uri", uris) } }) },
        two: listing(),
      },
      ONE_EACH,
    );
    const pages = await allPages(world, { list: "resources" });
    expect(pages.flatMap((page) => namesIn(page, "resources"))).toEqual(uris);
    expect(String(pages[0]?.["nextCursor"]).length).toBeLessThan(2000);
  });

  test("a server with new items for every page comes to an end", async ({ expect }) => {
    const world = mergedWorld(
      { one: listing("a"), two: listing("z") },
      { listPageItems: 1, catalogItems: 12 },
    );
    const pages = await allPages(world, {}, (n) => {
      world.feeds.of("one").has = listing(`a${n}`).catalog;
    });
    expect(pages).toHaveLength(13);
    expect(namesIn(pages.at(-1) ?? {})).toEqual(["two__z"]);
  });

  /** Things of servers that stay, and servers that change into anything. */
  const names = fc.uniqueArray(fc.constantFrom(...LETTERS), { maxLength: 8 });
  const history = fc.record({
    stays: fc.array(names, { minLength: 1, maxLength: 3 }),
    changes: fc.array(names, { minLength: 1, maxLength: 12 }),
    listPageItems: fc.integer({ min: 1, max: 4 }),
    changesFirst: fc.boolean(),
  });
  test("items that stay are listed once", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(history, async ({ stays, changes, listPageItems, changesFirst }) => {
        const staying = stays.map((list, n) => [`stays${n}`, listing(...list)] as const);
        const changing = ["changes", listing(...(changes[0] ?? []))] as const;
        const parts = changesFirst ? [changing, ...staying] : [...staying, changing];
        const world = mergedWorld(Object.fromEntries(parts), { listPageItems, catalogItems: 30 });
        const pages = await allPages(world, {}, (n) => {
          world.feeds.of("changes").has = listing(...(changes[n % changes.length] ?? [])).catalog;
        });
        const listed = pages.flatMap((page) => namesIn(page)).map(String);
        const ofStaying = listed.filter((name) => name.startsWith("stays"));
        expect(ofStaying).toEqual(
          stays.flatMap((list, n) => list.map((name) => `stays${n}__${name}`)),
        );
      }),
      { numRuns: 100 },
    );
  });

  test("an item that is added or removed before the position shifts nothing", async ({
    expect,
  }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...LETTERS), { minLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.boolean(), { minLength: 1 }),
        async (list, listPageItems, adds) => {
          const world = mergedWorld({ one: listing(...list), two: listing() }, { listPageItems });
          let now = [...list];
          const pages = await allPages(world, {}, (n) => {
            // What is taken away was listed on the first page.
            now =
              adds[n % adds.length] === true
                ? [`new${n}`, ...now]
                : now.filter((name) => name !== list[0]);
            world.feeds.of("one").has = listing(...now).catalog;
          });
          const listed = pages.flatMap((page) => namesIn(page));
          expect(listed).toEqual(list.map((name) => `one__${name}`));
        },
      ),
      { numRuns: 100 },
    );
  });
});
