/** 2026-07-28: the lists of the one server of an endpoint, page by page, with cursors of the gateway's. */

import { beforeAll, describe, test } from "vitest";

import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import { modern } from "../client.ts";
import { type Message, responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { jsonOf, Upstream } from "../upstream.ts";

const CATALOG_PAGES = 4;

beforeAll(() => {
  setLimits({ catalogPages: CATALOG_PAGES });
});

const LISTS = [
  { method: "tools/list", member: "tools" },
  { method: "resources/list", member: "resources" },
  { method: "resources/templates/list", member: "resourceTemplates" },
  { method: "prompts/list", member: "prompts" },
] as const;

/** A page of a list; a cursor to the next one, if there is one. */
function page(member: string, nextCursor?: unknown): Reaction {
  const facts = { resultType: "complete", ttlMs: 60_000, cacheScope: "public" };
  const next = nextCursor === undefined ? {} : { nextCursor };
  return jsonOf({ result: { ...facts, [member]: [], ...next } });
}

async function list(upstream: Upstream, method: string, params: Json = {}): Promise<Message> {
  return responseIn(await modern(upstream, method, params));
}

/** The cursors that a server was sent with its list. */
async function cursorsOf(upstream: Upstream, method: string): Promise<readonly unknown[]> {
  return (await upstream.sent(method)).map(({ body }) => body?.params?.["cursor"]);
}

describe.for(LISTS)("$method", ({ method, member }) => {
  test("is had page by page, and the server gets its own cursors", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { [method]: [page(member, " ü/1 "), page(member, ""), page(member)] },
    });
    const first = await list(upstream, method);
    expect(first.result).toMatchObject({ [member]: [], ttlMs: 60_000, cacheScope: "private" });
    const second = await list(upstream, method, { cursor: first.result?.["nextCursor"] });
    const third = await list(upstream, method, { cursor: second.result?.["nextCursor"] });
    expect(third.result).toMatchObject({ cacheScope: "private" });
    expect(third.result).not.toHaveProperty("nextCursor");
    expect(await cursorsOf(upstream, method)).toEqual([undefined, " ü/1 ", ""]);
    for (const { result } of [first, second]) {
      expect(result?.["nextCursor"]).not.toContain("ü");
    }
  });

  test("is anybody's when it is one page, as the server says", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { [method]: [page(member)] },
    });
    const { result } = await list(upstream, method);
    expect(result).toEqual({
      ...{ [member]: [], resultType: "complete", ttlMs: 60_000, cacheScope: "public" },
    });
  });
});

async function cursorOf(upstream: Upstream, method = "tools/list"): Promise<string> {
  return String((await list(upstream, method)).result?.["nextCursor"]);
}

describe("a cursor", () => {
  const paged = {
    server: "modern",
    reactions: {
      "tools/list": [{ ...page("tools", "next"), isLasting: true }],
      "prompts/list": [{ ...page("prompts", "next"), isLasting: true }],
    },
  } as const;

  test.for<{ name: string; forge: (upstream: Upstream) => Promise<unknown> }>([
    { name: "tampered with", forge: async (upstream) => `${await cursorOf(upstream)}A` },
    { name: "the server's own", forge: () => Promise.resolve("next") },
    { name: "empty", forge: () => Promise.resolve("") },
    { name: "no text", forge: () => Promise.resolve(7) },
    { name: "null", forge: () => Promise.resolve(null) },
    { name: "of another list", forge: (upstream) => cursorOf(upstream, "prompts/list") },
    { name: "of another server", forge: async () => cursorOf(await Upstream.take(paged)) },
  ])(
    "that is $name is refused, and the server does not hear of it",
    async ({ forge }, { expect }) => {
      const upstream = await Upstream.take(paged);
      const cursor = await forge(upstream);
      const before = (await upstream.log()).length;
      const { error } = await list(upstream, "tools/list", { cursor });
      expect(error?.code).toBe(-32602);
      expect(error?.message).toMatch(/cursor/i);
      expect(await upstream.log()).toHaveLength(before);
    },
  );
});

describe("a list without an end", () => {
  test("is over when its cursor repeats", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/list": [{ ...page("tools", "same"), isLasting: true }] },
    });
    const first = await list(upstream, "tools/list");
    const second = await list(upstream, "tools/list", { cursor: first.result?.["nextCursor"] });
    expect(second.result).not.toHaveProperty("nextCursor");
  });

  test("is over after as many pages as any list has", async ({ expect }) => {
    const turns = ["a", "b", "a", "b", "a", "b"].map((cursor) => page("tools", cursor));
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/list": turns },
    });
    let cursor: unknown;
    let pages = 0;
    do {
      const { result } = await list(upstream, "tools/list", cursor === undefined ? {} : { cursor });
      cursor = result?.["nextCursor"];
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBe(CATALOG_PAGES);
  });

  test.for([null, 7, { a: 1 }])("may not go on with %j", async (cursor, { expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/list": [page("tools", cursor)] },
    });
    expect((await list(upstream, "tools/list")).result).not.toHaveProperty("nextCursor");
  });
});
