/** Merged lists through the whole gateway: real feeds, both eras, servers that come and go. */

import { abortAllDurableObjects } from "cloudflare:test";
import { beforeAll, describe, test } from "vitest";

import type { Json, Script } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES_KEY, MODERN, modern, Session, VERSION_KEY } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { takeSeveral } from "../several-servers.ts";
import type { Upstream } from "../upstream.ts";

const MCP = { mcp: "/mcp" };
const PAGE = 4;
const tools = (...names: readonly string[]): readonly Json[] =>
  names.map((name) => ({ name, inputSchema: { type: "object" } }));
const dual = (...names: readonly string[]): Script => ({
  ...{ server: "dual", capabilities: { tools: {} }, tools: tools(...names) },
});

let several: readonly Upstream[];

beforeAll(async () => {
  // Every page asks the feeds.
  setLimits({ listPageItems: PAGE, catalogWaitMilliseconds: 60_000, catalogFreshSeconds: 0 });
  several = await takeSeveral([
    { script: dual("c", "b", "a") },
    { script: { ...dual(), reactions: { initialize: [DEAD], "server/discover": [DEAD] } } },
    { script: dual("x", "secret", "y"), entry: { tools: { deny: ["secret"] } } },
    { script: dual(...Array.from({ length: 6 }, (_, n) => `t${n}`)) },
  ]);
});

const DEAD = { status: 503, isLasting: true } as const;

const union = (): string[] => {
  const [one, , three, four] = several.map(({ slug }) => slug);
  return [
    ...["c", "b", "a"].map((name) => `${one}__${name}`),
    ...["x", "y"].map((name) => `${three}__${name}`),
    ...Array.from({ length: 6 }, (_, n) => `${four}__t${n}`),
  ];
};

type List = (params: Json) => Promise<Response>;

async function allPages(list: List): Promise<readonly Json[]> {
  const pages: Json[] = [];
  let cursor: unknown;
  do {
    const { result, error } = await responseIn(await list(cursor === undefined ? {} : { cursor }));
    if (result === undefined) throw new Error(JSON.stringify(error));
    pages.push(result);
    cursor = result["nextCursor"];
  } while (cursor !== undefined);
  return pages;
}

const namesOf = (pages: readonly Json[]): unknown[] =>
  pages.flatMap((page) => (page["tools"] as readonly Json[]).map(({ name }) => name));

async function legacyList(): Promise<List> {
  const session = await Session.open("/mcp");
  return (params) => session.request("tools/list", params);
}
const modernList = (): Promise<List> =>
  Promise.resolve((params) => {
    const { _meta: more, ...rest } = params as { _meta?: Json };
    const envelope = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: {} };
    return modern(MCP, "tools/list", { ...rest, _meta: { ...envelope, ...more } });
  });

describe.for([
  { era: "legacy", open: legacyList },
  { era: "modern", open: modernList },
])("to a $era client", ({ era, open }) => {
  test("all servers' tools are listed page by page, and the dead one is named", async ({
    expect,
  }) => {
    const pages = await allPages(await open());
    expect(namesOf(pages)).toEqual(union());
    expect(pages.map((page) => (page["tools"] as Json[]).length)).toEqual([4, 4, 3]);
    expect(pages[0]?.["_meta"]).toMatchObject({
      "edgeway/servers": [{ server: several[1]?.slug, state: "down" }],
    });
    for (const page of pages) {
      if (era === "legacy") {
        expect(
          Object.keys(page).filter((key) => !["tools", "nextCursor", "_meta"].includes(key)),
        ).toEqual([]);
      } else {
        expect(page).toMatchObject({ resultType: "complete", cacheScope: "private" });
      }
    }
  });

  test("the pages go on where they were when every object is lost in between", async ({
    expect,
  }) => {
    const list = await open();
    const first = (await responseIn(await list({}))).result ?? {};
    await abortAllDurableObjects();
    const second = (await responseIn(await list({ cursor: first["nextCursor"] }))).result ?? {};
    expect(namesOf([first, second])).toEqual(union().slice(0, 2 * PAGE));
  });

  test("a search finds its part of the names", async ({ expect }) => {
    const list = await open();
    const found = await allPages((params) =>
      list({ ...params, _meta: { "edgeway/search": "__T" } }),
    );
    expect(namesOf(found)).toEqual(union().slice(-6));
  });

  test("no cursor is good but what was given for this list", async ({ expect }) => {
    const list = await open();
    const { result } = await responseIn(await list({}));
    for (const cursor of ["", "x", `${String(result?.["nextCursor"])}A`, 7, null]) {
      const { error } = await responseIn(await list({ cursor }));
      expect([cursor, error?.code]).toEqual([cursor, -32602]);
    }
  });
});
