/** Pages of merged lists: their items, and their notes on the servers. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { LIST_KINDS, type Trouble } from "../../../../src/catalog/catalog.ts";
import { asLegacyList } from "../../../../src/catalog/lists/list-page.ts";
import { Glob } from "../../../../src/policy/glob.ts";
import type { EntryNotice } from "../../../../src/observability/health.ts";
import { OPEN_POLICY } from "../../../../src/policy/item-policy.ts";
import { catalogOf, things, tools } from "../../notifications/source/fake-feeds.ts";
import { allPages, mergedWorld, namesIn, pageOf, thingsIn, listing } from "./merged-world.ts";

const sized = (name: string, bytes: number) => ({
  name,
  text: JSON.stringify({ name, d: "é".repeat(bytes / 2) }),
});
const resources = (title: string, ...uris: readonly string[]) => ({
  catalog: catalogOf({
    lists: {
      resources: things("uri", uris, { name: "r", title }),
      templates: things("uriTemplate", uris, { name: "r", title }),
    },
  }),
});
const down = { catalog: undefined };
/** What every thing of a server's says of where it is from. */
const of = (slug: string) => ({ _meta: { "edgeway/server": slug } });
const trouble: Trouble = { reason: "timeout", message: 'Upstream "two" is late', since: 7 };

// How long a page is good is counted from when it was asked for.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a page has", () => {
  test("the items of all servers, in the operator's order and the servers'", async ({ expect }) => {
    const world = mergedWorld({ zoo: listing("z", "a"), ape: listing("m"), bee: listing() });
    expect(await pageOf(world)).toEqual({
      resultType: "complete",
      tools: [
        { name: "zoo__z", ...of("zoo") },
        { name: "zoo__a", ...of("zoo") },
        { name: "ape__m", ...of("ape") },
      ],
      ...{ ttlMs: 10_000, cacheScope: "public" },
    });
  });

  test("items unchanged but for their names and servers", async ({ expect }) => {
    const odd = {
      ...{ title: "a", description: "name", inputSchema: { properties: { name: { const: "a" } } } },
      ...{ _meta: { "x/y": [1, null], ui: { resourceUri: "ui://a" } }, "": 0, ["__proto__"]: 1 },
    };
    const items = [{ name: "a", text: JSON.stringify({ before: 1, name: "a", ...odd }) }];
    const world = mergedWorld({
      one: { catalog: catalogOf({ lists: { tools: items, prompts: items } }) },
      two: listing(),
    });
    const _meta = { ...odd._meta, "edgeway/server": "one" };
    const text = JSON.stringify({ before: 1, name: "one__a", ...odd, _meta });
    expect(JSON.stringify(thingsIn(await pageOf(world))[0])).toBe(text);
    const prompts = await pageOf(world, { list: "prompts" });
    expect(JSON.stringify(thingsIn(prompts, "prompts")[0])).toBe(text);
  });

  test("unchanged URIs, each once: the first server owns it", async ({ expect }) => {
    const world = mergedWorld(
      {
        one: resources("1", "a:1", "b:1"),
        two: resources("2", "b:1", "c:1"),
        three: resources("3", "c:1", "a:1", "d:1"),
      },
      { listPageItems: 1 },
    );
    for (const list of ["resources", "templates"] as const) {
      const all = (await allPages(world, { list })).flatMap((page) => thingsIn(page, list));
      const key = list === "resources" ? "uri" : "uriTemplate";
      expect(all.map((thing) => [thing[key], thing["name"], thing["title"]])).toEqual([
        ["a:1", "r", "1"],
        ["b:1", "r", "1"],
        ["c:1", "r", "2"],
        ["d:1", "r", "3"],
      ]);
    }
  });

  test("no resource whose requests go to another server", async ({ expect }) => {
    const pointing = things("name", ["a"], { _meta: { ui: { resourceUri: "ui://1" } } });
    const lists = { resources: things("uri", ["ui://1", "ui://2"]) };
    const world = mergedWorld({
      one: { catalog: catalogOf({ lists: { tools: pointing } }) },
      two: { catalog: catalogOf({ lists }) },
    });
    const page = await pageOf(world, { list: "resources" });
    expect(namesIn(page, "resources")).toEqual(["ui://2"]);
  });

  test("no forbidden item", async ({ expect }) => {
    const policy = { ...OPEN_POLICY, deny: [new Glob("secret*")] };
    const lists = {
      tools: tools("secret_a", "b"),
      prompts: tools("secret_p", "q"),
      resources: things("uri", ["secret:1", "r:1"]),
      templates: things("uriTemplate", ["secret:{x}", "r:{x}"]),
    };
    const server = { tools: policy, prompts: policy, resources: policy };
    const world = mergedWorld({
      one: { catalog: catalogOf({ lists }), server },
      two: { catalog: catalogOf({ lists }) },
    });
    const seen = async (list: keyof typeof lists) => namesIn(await pageOf(world, { list }), list);
    expect(await seen("tools")).toEqual(["one__b", "two__secret_a", "two__b"]);
    expect(await seen("prompts")).toEqual(["one__q", "two__secret_p", "two__q"]);
    // What the first may not show is not taken from the second.
    expect(await seen("resources")).toEqual(["r:1", "secret:1"]);
    expect(await seen("templates")).toEqual(["r:{x}", "secret:{x}"]);
  });

  test("the operator's names", async ({ expect }) => {
    const rename = new Map([["b", "find"]]);
    const world = mergedWorld({
      one: { ...listing("a", "b"), server: { tools: { ...OPEN_POLICY, rename }, prefix: "1_" } },
      two: listing("b"),
    });
    const [first, ...others] = namesIn(await pageOf(world));
    expect(first).toMatch(/^[A-Za-z0-9_-]{1,45}$/);
    expect(others[1]).toBe("two__b");
    expect(new Set([first, ...others]).size).toBe(3);
  });
});

describe("a page ends", () => {
  test("at the limit of items, and the last page has no cursor", async ({ expect }) => {
    const world = mergedWorld(
      { one: listing("a", "b", "c"), two: listing("d", "e", "f") },
      { listPageItems: 2 },
    );
    const pages = await allPages(world);
    expect(pages.map((page) => namesIn(page))).toEqual([
      ["one__a", "one__b"],
      ["one__c", "two__d"],
      ["two__e", "two__f"],
    ]);
    expect(pages.at(-1)).not.toHaveProperty("nextCursor");
  });

  test("at the limit of bytes, with at least one item", async ({ expect }) => {
    const world = mergedWorld(
      {
        one: {
          catalog: catalogOf({
            lists: { tools: [sized("a", 400), sized("b", 400), sized("c", 400)] },
          }),
        },
        two: {
          catalog: catalogOf({
            lists: { tools: [sized("d", 9000), sized("e", 100), sized("f", 100)] },
          }),
        },
      },
      { listPageBytes: 1000 },
    );
    expect((await allPages(world)).map((page) => namesIn(page))).toEqual([
      ["one__a", "one__b"],
      ["one__c"],
      ["two__d"],
      ["two__e", "two__f"],
    ]);
  });

  test("only where another item follows", async ({ expect }) => {
    const policy = { ...OPEN_POLICY, deny: [new Glob("no*")] };
    const world = mergedWorld(
      { one: listing(), two: { ...listing("a", "b", "no1", "no2"), server: { tools: policy } } },
      { listPageItems: 2 },
    );
    expect(await allPages(world)).toHaveLength(1);
  });

  test("and may be followed by an empty last page if the next server was not known yet", async ({
    expect,
  }) => {
    const world = mergedWorld({ one: listing("a"), two: listing() }, { listPageItems: 1 });
    const pages = await allPages(world);
    expect(pages.map((page) => namesIn(page))).toEqual([["one__a"], []]);
  });

  test("an empty list is one empty page", async ({ expect }) => {
    expect(await allPages(mergedWorld({ one: listing(), two: listing() }))).toHaveLength(1);
  });
});

describe("about entries that are not served as written, a page says", () => {
  const notices: readonly EntryNotice[] = [
    { ...{ name: "My B", slug: "b", state: "misconfigured" }, sentences: ["One.", "Two."] },
    { ...{ name: "c", slug: "c", state: "off" }, sentences: ["It is off."] },
    { ...{ name: "???", state: "stdio" }, sentences: ["It starts a program."] },
  ];
  const worldOf = (isAdmin?: boolean): ReturnType<typeof mergedWorld> => {
    const world = mergedWorld({ one: listing("a"), two: listing("b") }, { listPageItems: 1 });
    const endpoint = { ...world.endpoint, notices };
    return { ...world, endpoint, ...(isAdmin !== undefined && { isAdmin }) };
  };

  test("what they are to administrators, on its first page, and for no cache", async ({
    expect,
  }) => {
    const world = worldOf(true);
    const page = await pageOf(world);
    expect(page).toMatchObject({ cacheScope: "private" });
    expect(page["_meta"]).toEqual({
      "edgeway/servers": [
        { server: "b", state: "misconfigured", message: "One. Two." },
        { server: "???", state: "stdio", message: "It starts a program." },
      ],
    });
    const second = await pageOf(world, { cursor: page["nextCursor"] });
    expect(second["_meta"]).toBeUndefined();
  });

  test("and so whole lists of public items are private to administrators, and to nobody else", async ({
    expect,
  }) => {
    const world = mergedWorld({ one: { catalog: catalogOf({ isPublic: true }) } });
    const endpoint = { ...world.endpoint, notices };
    expect(await pageOf({ ...world, endpoint })).toMatchObject({ cacheScope: "public" });
    const scoped = await pageOf({ ...world, endpoint, isAdmin: true });
    expect(scoped).toMatchObject({ cacheScope: "private" });
  });

  test.for([false, undefined])("nothing to anybody else", async (isAdmin, { expect }) => {
    expect(await pageOf(worldOf(isAdmin))).not.toHaveProperty("_meta");
  });
});

describe("about its servers, a page says", () => {
  test("which one is down", async ({ expect }) => {
    const world = mergedWorld({ one: listing("a"), two: down });
    world.feeds.of("two").trouble = trouble;
    expect(await pageOf(world)).toEqual({
      resultType: "complete",
      tools: [{ name: "one__a", ...of("one") }],
      ...{ ttlMs: 0, cacheScope: "private" },
      _meta: {
        "edgeway/servers": [{ server: "two", state: "down", message: trouble.message, since: 7 }],
      },
    });
  });

  test("which one is failing, and marks its items", async ({ expect }) => {
    const items = [
      { name: "a", text: '{"name":"a"}' },
      { name: "b", text: '{"name":"b","_meta":{"x":1},"title":"B"}' },
    ];
    const world = mergedWorld({
      one: listing("a"),
      two: { catalog: catalogOf({ lists: { tools: items } }) },
    });
    world.feeds.of("two").trouble = trouble;
    const mark = {
      "edgeway/server": "two",
      "edgeway/state": { state: "failing", since: 7 },
    };
    expect(await pageOf(world)).toEqual({
      resultType: "complete",
      tools: [
        { name: "one__a", ...of("one") },
        { name: "two__a", _meta: mark },
        { name: "two__b", _meta: { x: 1, ...mark }, title: "B" },
      ],
      // Soon it may be there again.
      ...{ ttlMs: 5000, cacheScope: "private" },
      _meta: {
        "edgeway/servers": [
          { server: "two", state: "failing", message: trouble.message, since: 7 },
        ],
      },
    });
  });

  test("which list a server did not return, and marks the items of it", async ({ expect }) => {
    const message = 'Upstream "one" answered tools/list without a list';
    const fault = { list: "tools", reason: "malformed", message, since: 7 } as const;
    const lists = { tools: tools("a"), prompts: tools("p") };
    const world = mergedWorld({
      one: { catalog: catalogOf({ lists, faults: [fault], isPublic: false }) },
      two: listing("b"),
    });
    const page = await pageOf(world);
    expect(page["_meta"]).toEqual({
      "edgeway/servers": [
        { server: "one", state: "failing", list: "tools/list", message, since: 7 },
      ],
    });
    expect(thingsIn(page)).toEqual([
      {
        name: "one__a",
        _meta: { "edgeway/server": "one", "edgeway/state": { state: "failing", since: 7 } },
      },
      { name: "two__b", ...of("two") },
    ]);
    // Soon it may be there.
    expect(page["ttlMs"]).toBe(5000);
    const prompts = await pageOf(world, { list: "prompts" });
    expect(prompts["_meta"]).toEqual(page["_meta"]);
    expect(thingsIn(prompts, "prompts")[0]).toEqual({ name: "one__p", ...of("one") });
  });

  test("the server of each item, whatever that server sets there", async ({ expect }) => {
    const forged = { "edgeway/server": "two", "edgeway/state": { state: "failing" }, "x/y": 1 };
    const lists = {
      tools: things("name", ["a"], { _meta: forged }),
      prompts: things("name", ["a"], { _meta: forged }),
      resources: things("uri", ["a:1"], { _meta: forged }),
      templates: things("uriTemplate", ["a:{x}"], { _meta: "edgeway/server" }),
    };
    const world = mergedWorld({ one: { catalog: catalogOf({ lists }) }, two: listing() });
    for (const list of LIST_KINDS) {
      const [thing] = thingsIn(await pageOf(world, { list }), list);
      const own = list === "templates" ? {} : { "x/y": 1 };
      expect(thing?.["_meta"], list).toEqual({ ...own, "edgeway/server": "one" });
    }
  });

  test("what was cut", async ({ expect }) => {
    const flaws = ['Upstream "one" lists more', "2 tools are left out"];
    const world = mergedWorld({ one: { catalog: catalogOf({ flaws }) }, two: listing("b") });
    const page = await pageOf(world);
    expect(page["_meta"]).toEqual({
      "edgeway/servers": flaws.map((message) => ({ server: "one", state: "cut", message })),
    });
    expect(page["cacheScope"]).toBe("public");
  });

  test("nothing about servers that are not on the page", async ({ expect }) => {
    const world = mergedWorld({ one: listing("a", "b"), two: down }, { listPageItems: 1 });
    const [first, second, third] = await allPages(world);
    expect([first?.["_meta"], second?.["_meta"]]).toEqual([undefined, undefined]);
    expect(third).toHaveProperty("_meta");
  });

  test("how long it is fresh: as long as its shortest catalog", async ({ expect }) => {
    const world = mergedWorld({ one: listing("a"), two: listing("b") });
    world.feeds.of("two").freshMs = 1234.9;
    expect((await pageOf(world))["ttlMs"]).toBe(1234);
    world.feeds.of("one").freshMs = 0;
    expect((await pageOf(world))["ttlMs"]).toBe(0);
  });

  test("that it is public only if it is whole and public at each server", async ({ expect }) => {
    const own = { catalog: catalogOf({ isPublic: false, lists: { tools: tools("b") } }) };
    expect((await pageOf(mergedWorld({ one: listing("a"), two: own })))["cacheScope"]).toBe(
      "private",
    );
    // A cursor is good for one principal alone, and all pages of a list say the same.
    const world = mergedWorld({ one: listing("a", "b"), two: listing() }, { listPageItems: 1 });
    const scopes = (await allPages(world)).map(({ cacheScope }) => cacheScope);
    expect(new Set(scopes)).toEqual(new Set(["private"]));
  });

  test("nothing about caching to a legacy client", async ({ expect }) => {
    const world = mergedWorld({ one: listing("a"), two: down }, { listPageItems: 1 });
    const [first, last] = await allPages(world);
    expect(asLegacyList(first ?? {})).toEqual({
      tools: [{ name: "one__a", ...of("one") }],
      nextCursor: first?.["nextCursor"],
    });
    expect(asLegacyList(last ?? {})).toEqual({ tools: [], _meta: last?.["_meta"] });
  });
});

describe("a search", () => {
  const resources = [
    { name: "file:///Alpha", text: '{"uri":"file:///Alpha","name":"one"}' },
    { name: "file:///b", text: '{"uri":"file:///b","name":"two","title":"ALPHA Centauri"}' },
    { name: "file:///c", text: '{"uri":"file:///c","name":"three","description":"alpha"}' },
    { name: "file:///d", text: '{"uri":"file:///d","name":"alphabet"}' },
  ];
  const world = mergedWorld(
    {
      docs: {
        catalog: catalogOf({
          lists: {
            tools: [...tools("Find", "list"), ...things("name", ["x"], { title: "find" })],
            resources,
          },
        }),
      },
      finder: listing("a", "b"),
    },
    { listPageItems: 1 },
  );
  const found = async (search: unknown, list: "tools" | "resources" = "tools") =>
    (await allPages(world, { list, search })).flatMap((page) => namesIn(page, list));

  test("finds a part of a public name, in any case, on every page", async ({ expect }) => {
    expect(await found("FIND")).toEqual(["docs__Find", "finder__a", "finder__b"]);
    expect(await found("docs__l")).toEqual(["docs__list"]);
    expect(await found("nothing")).toEqual([]);
  });

  test("finds resources by URI, title and name", async ({ expect }) => {
    expect(await found("alpha", "resources")).toEqual(["file:///Alpha", "file:///b", "file:///d"]);
  });

  test.for([undefined, "", 7, null, {}, ["Find"]])(
    "is ignored if it is %j",
    async (search, { expect }) => {
      expect(await found(search)).toHaveLength(5);
    },
  );

  test("continues as it began, whatever later requests say", async ({ expect }) => {
    const first = await pageOf(world, { search: "find" });
    const cursor = first["nextCursor"];
    const second = await pageOf(world, { cursor, search: "list" });
    expect(namesIn(second)).toEqual(["finder__a"]);
    const whole = await pageOf(world);
    const next = await pageOf(world, { cursor: whole["nextCursor"], search: "nothing" });
    expect(namesIn(next)).toEqual(["docs__list"]);
  });
});
