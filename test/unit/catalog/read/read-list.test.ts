/** One list of a server, read page by page, whatever the server does with its cursors. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import type { ListKind } from "../../../../src/catalog/catalog.ts";
import { ByteBudget } from "../../../../src/catalog/read/byte-budget.ts";
import { type ListReading, readList } from "../../../../src/catalog/read/read-list.ts";
import type { JsonObject, Reply } from "../../../../src/protocol/json-rpc.ts";
import { UpstreamError } from "../../../../src/upstream/upstream-error.ts";
import { failureOf } from "../../upstream/fake-target.ts";

interface Options {
  readonly list?: ListKind;
  readonly maxItems?: number;
  readonly maxPages?: number;
  readonly bytes?: number;
  readonly isAdvertised?: boolean;
  readonly isLawful?: (thing: JsonObject) => boolean;
}

type Answer = (cursor: unknown, n: number) => Reply;

/** Reads what a function says for each cursor; a server that is asked without end is a failure. */
async function read(
  answer: Answer,
  { list = "tools", maxItems = 100, maxPages = 200, bytes = 1e6, ...options }: Options = {},
): Promise<ListReading & { readonly cursors: readonly unknown[]; readonly names: string[] }> {
  const cursors: unknown[] = [];
  const reading = await readList({
    ...{ slug: "docs", list, isAdvertised: true, isLawful: () => true, ...options },
    ...{ maxItems, maxPages, budget: new ByteBudget(bytes) },
    ask: async (_method, params) => {
      cursors.push(params["cursor"]);
      if (cursors.length > 1000) throw new Error("asked without end");
      return answer(params["cursor"], cursors.length - 1);
    },
  });
  return { ...reading, cursors, names: reading.items.map(({ name }) => name) };
}

const tools = (...names: readonly unknown[]): JsonObject[] => names.map((name) => ({ name }));
const page = (things: unknown, nextCursor?: unknown, more: JsonObject = {}): Reply => ({
  result: { tools: things, ...(nextCursor === undefined ? {} : { nextCursor }), ...more },
});
const refusal = (code: number): Reply => ({ error: { code, message: "SECRET" } });

/** Page by page: each of these, the cursor being the number of the next. */
function pages(...all: readonly (readonly JsonObject[])[]): Answer {
  return (cursor) => {
    const n = cursor === undefined ? 0 : Number(cursor);
    return page(all[n] ?? [], n + 1 < all.length ? String(n + 1) : undefined);
  };
}

/** Ten of thirteen, others and in another order for each page. */
function someOf(n: number): JsonObject[] {
  return tools(...Array.from({ length: 10 }, (_, at) => `t${(at * 7 + n * 3) % 13}`));
}

/** What is said of the whole list, by what its pages say. */
async function facts(...said: JsonObject[]): Promise<unknown> {
  const { ttlMs, isPublic } = await read((_, n) =>
    page([], n + 1 < said.length ? `${n}` : undefined, said[n]),
  );
  return { ttlMs, isPublic };
}

describe("readList() takes", () => {
  test("every page, in the server's order, and items unchanged", async ({ expect }) => {
    const odd = { description: "é\u0000", name: "b", _meta: { x: [1, null] }, z: { name: "c" } };
    const reading = await read(pages(tools("z", "a"), [odd], [], tools("m")));
    expect(reading.names).toEqual(["z", "a", "b", "m"]);
    expect(reading.items[2]?.text).toBe(JSON.stringify(odd));
    expect(reading.flaws).toEqual([]);
    expect(reading.cursors).toEqual([undefined, "1", "2", "3"]);
  });

  test("items by the identifying member of their list", async ({ expect }) => {
    const things = [{ name: "n", uri: "u", uriTemplate: "t" }];
    const members = { resources: things, resourceTemplates: things, prompts: things };
    const named = async (list: ListKind): Promise<unknown> =>
      (await read(() => ({ result: members }), { list })).names;
    expect(await named("resources")).toEqual(["u"]);
    expect(await named("templates")).toEqual(["t"]);
    expect(await named("prompts")).toEqual(["n"]);
  });

  test("an empty cursor as a cursor", async ({ expect }) => {
    const reading = await read((cursor) =>
      cursor === undefined ? page(tools("a"), "") : page(tools("b")),
    );
    expect([reading.names, reading.flaws]).toEqual([["a", "b"], []]);
    expect(reading.cursors).toEqual([undefined, ""]);
  });

  test.for<{ name: string; answer: Answer }>([
    { name: "with the same page", answer: () => page(tools("a", "a", "b"), "") },
    {
      name: "with the same page, once",
      answer: (cursor) => page(tools("a", "a", "b"), cursor === undefined ? "" : undefined),
    },
    {
      name: "with an error",
      answer: (cursor) => (cursor === "" ? refusal(-32602) : page(tools("a", "a", "b"), "")),
    },
  ])("an empty cursor that leads nowhere, $name, as the end", async ({ answer }, { expect }) => {
    const reading = await read(answer);
    expect(reading.names).toEqual(["a", "b"]);
    // The one that is really there twice, and no other.
    expect(reading.flaws).toEqual([
      '1 tool of upstream "docs" is left out: the same "name" as one before',
    ]);
    expect(reading.cursors).toEqual([undefined, ""]);
  });

  test.for([null, 7, {}, false])("no cursor that is %j", async (cursor, { expect }) => {
    const reading = await read(() => page(tools("a"), cursor));
    expect([reading.cursors, reading.flaws]).toEqual([[undefined], []]);
  });

  test("the smallest TTL, and as public only if every page is", async ({ expect }) => {
    const open = { cacheScope: "public" };
    expect(await facts({})).toEqual({ ttlMs: undefined, isPublic: false });
    expect(await facts({ ttlMs: 5, ...open })).toEqual({ ttlMs: 5, isPublic: true });
    expect(await facts({ ttlMs: 5, ...open }, { ttlMs: 0, ...open })).toEqual({
      ...{ ttlMs: 0, isPublic: true },
    });
    expect(await facts({ ttlMs: 7, ...open }, {}, { ttlMs: 9, ...open })).toEqual({
      ...{ ttlMs: 7, isPublic: false },
    });
    for (const ttlMs of [-1, 1.5, "60", null]) {
      expect(await facts({ ttlMs })).toEqual({ ttlMs: undefined, isPublic: false });
    }
  });

  test("the union of all pages, with the first item of each name", async ({ expect }) => {
    const names = fc.array(fc.constantFrom("a", "b", "c", "d", "e", "__proto__", ""));
    await fc.assert(
      fc.asyncProperty(fc.array(names, { minLength: 1, maxLength: 12 }), async (lists) => {
        const numbered = lists.map((list, n) =>
          list.map((name, at) => ({ name, place: `${n}.${at}` })),
        );
        const { items } = await read(pages(...numbered));
        const first = new Map(
          numbered
            .flat()
            .toReversed()
            .map((thing) => [thing.name, thing]),
        );
        const wanted = numbered.flat().filter((thing) => first.get(thing.name) === thing);
        expect(items).toEqual(
          wanted.map((thing) => ({ name: thing.name, text: JSON.stringify(thing) })),
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe("readList() leaves out, with a flaw,", () => {
  const rows: { name: string; things: unknown[]; flaw: string; options?: Options }[] = [
    {
      name: "what has no name",
      things: [{ name: "a" }, {}, { name: 7 }, { name: null }, null, "a", [], ["a"]],
      flaw: '7 tools of upstream "docs" are left out: no "name" that is a string',
    },
    {
      name: "what has the name of another",
      things: tools("a", "a", "a"),
      flaw: '2 tools of upstream "docs" are left out: the same "name" as one before',
    },
    {
      name: "what may not be passed on",
      things: tools("bad", "a"),
      flaw: '1 tool of upstream "docs" is left out: header annotations that break the rules',
      options: { isLawful: ({ name }) => name !== "bad" },
    },
    {
      name: "what is more than is kept",
      things: tools("a", "b", "c"),
      flaw: 'Upstream "docs" lists more tools than the gateway keeps; the first 1 are shown',
      options: { maxItems: 1 },
    },
    {
      name: "what is larger than what is kept",
      things: [{ name: "a" }, { name: "b", description: "x".repeat(1000) }, { name: "c" }],
      flaw: 'Upstream "docs" lists more tools than the gateway keeps; the first 1 are shown',
      options: { bytes: 500 },
    },
  ];
  test.for(rows)("$name", async ({ things, flaw, options }, { expect }) => {
    const reading = await read(() => page(things), options);
    expect(reading.names).toEqual(["a"]);
    expect(reading.flaws).toEqual([flaw]);
  });

  test("a good thing with the name of a bad one stays", async ({ expect }) => {
    const things = [{ name: "a", isBad: true }, { name: "a" }];
    const reading = await read(() => page(things), { isLawful: (thing) => !("isBad" in thing) });
    expect(reading.items).toEqual([{ name: "a", text: '{"name":"a"}' }]);
    expect(reading.flaws).toHaveLength(1);
  });

  test("nothing when the bound is met exactly", async ({ expect }) => {
    const reading = await read(pages(tools("a"), tools("b"), []), { maxItems: 2, maxPages: 3 });
    expect([reading.names, reading.flaws]).toEqual([["a", "b"], []]);
  });
});

describe("readList() comes to an end", () => {
  const tooLong = 'Upstream "docs" lists more tools than the gateway keeps; the first';
  const circular = 'Upstream "docs" lists its tools in a circle; the first';

  test.for<{ name: string; answer: Answer; kept: number; flaw: string; asked: number }>([
    {
      name: "a cursor that leads to itself",
      answer: () => page(tools("a"), "x"),
      ...{ kept: 1, flaw: circular, asked: 2 },
    },
    {
      name: "cursors in a circle",
      answer: (cursor, n) => page(tools(`t${n}`), `${(Number(cursor ?? 0) + 1) % 3}`),
      ...{ kept: 4, flaw: circular, asked: 4 },
    },
    {
      name: "pages without end, each with something new",
      answer: (_, n) => page(tools(`t${n}`), `${n}`),
      ...{ kept: 20, flaw: tooLong, asked: 20 },
    },
    {
      name: "empty pages without end",
      answer: (_, n) => page([], `${n}`),
      ...{ kept: 0, flaw: tooLong, asked: 20 },
    },
  ])("of $name", async ({ answer, kept, flaw, asked }, { expect }) => {
    const reading = await read(answer, { maxPages: 20 });
    expect(reading.names).toHaveLength(kept);
    expect(reading.flaws.filter((each) => each.startsWith("Upstream"))).toEqual([
      `${flaw} ${kept} are shown`,
    ]);
    expect(reading.cursors).toHaveLength(asked);
  });

  test("pages without new items, long before the limit of pages", async ({ expect }) => {
    const reading = await read((_, n) => page(tools("a"), `${n}`), { maxPages: 900 });
    expect(reading.cursors.length).toBeLessThan(30);
    expect(reading.flaws[0]).toBe(`${tooLong} 1 are shown`);
  });

  test("pages whose cursors would fill the memory", async ({ expect }) => {
    const reading = await read((_, n) => page(tools(`t${n}`), `${n}`.padEnd(200_000)));
    expect(reading.cursors).toHaveLength(5);
    expect(reading.flaws).toEqual([`${tooLong} 5 are shown`]);
  });

  test("pages of a list that changes on each page", async ({ expect }) => {
    const reading = await read((_, n) => page(someOf(n), n < 6 ? `${n}` : undefined));
    expect(reading.names).toHaveLength(13);
    expect(new Set(reading.names).size).toBe(13);
  });
});

describe("readList() of a server that refuses", () => {
  test.for<{ list: ListKind; isAdvertised: boolean; flaws: readonly string[] }>([
    {
      ...{ list: "tools", isAdvertised: true },
      flaws: ['Upstream "docs" says that it has tools, but does not know tools/list'],
    },
    { list: "tools", isAdvertised: false, flaws: [] },
    { list: "templates", isAdvertised: true, flaws: [] },
    {
      ...{ list: "resources", isAdvertised: true },
      flaws: ['Upstream "docs" says that it has resources, but does not know resources/list'],
    },
  ])(
    "an unknown $list (advertised: $isAdvertised) is empty",
    async ({ list, isAdvertised, flaws }, { expect }) => {
      const reading = await read(() => refusal(-32601), { list, isAdvertised });
      expect(reading.items).toEqual([]);
      expect(reading.flaws).toEqual(flaws);
      expect([reading.ttlMs, reading.isPublic]).toEqual([undefined, undefined]);
    },
  );

  test.for<{ name: string; answer: Answer; sentence: string }>([
    {
      name: "an error",
      answer: () => refusal(-32603),
      sentence: 'Upstream "docs" answered tools/list with error -32603',
    },
    {
      name: "an unknown method on the second page",
      answer: (cursor) => (cursor === undefined ? page(tools("a"), "x") : refusal(-32601)),
      sentence: 'Upstream "docs" answered tools/list with error -32601',
    },
    {
      name: "a cursor that it gave",
      answer: (cursor) => (cursor === undefined ? page(tools("a"), "x") : refusal(-32602)),
      sentence: 'Upstream "docs" answered tools/list with error -32602',
    },
    {
      name: "no list",
      answer: () => page(undefined),
      sentence: 'Upstream "docs" answered tools/list without a list',
    },
    {
      name: "a list that is an object",
      answer: () => page({ 0: { name: "a" }, length: 1 }),
      sentence: 'Upstream "docs" answered tools/list without a list',
    },
  ])("$name fails the list", async ({ answer, sentence }, { expect }) => {
    const failure = await failureOf(read(answer));
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ failure: "malformed", message: sentence });
  });
});
