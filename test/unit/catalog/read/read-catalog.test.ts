/** Everything that a server lists: what holds in both eras. */

import { describe, test } from "vitest";

import { LIST_KINDS } from "../../../../src/catalog/catalog.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { UpstreamError } from "../../../../src/upstream/upstream-error.ts";
import {
  ALL_NAMES,
  EVERYTHING,
  LEGACY,
  LIST_METHODS,
  MODERN,
  names,
  read,
} from "./catalog-reading.ts";
import { bodyOf, bytesOf, failureOf, html } from "../../upstream/fake-target.ts";
import { CACHEABLE, legacyServer, type Methods, modernServer, refusing } from "./listing-server.ts";

function versionsOf(revision: typeof LEGACY | typeof MODERN, serve: typeof legacyServer) {
  return async (
    methods: Partial<Methods>,
    capabilities: JsonObject = { tools: {}, prompts: {} },
  ): Promise<string> => {
    const server = serve({ ...EVERYTHING, ...methods }, capabilities);
    return (await read(server, revision)).catalog.version;
  };
}

describe.for([
  { era: "legacy", revision: LEGACY, serve: legacyServer, opening: "initialize" },
  { era: "modern", revision: MODERN, serve: modernServer, opening: "server/discover" },
] as const)("in the $era era", ({ revision, serve, opening }) => {
  test("each list stands for itself: one that is not given is named, and the others are there", async ({
    expect,
  }) => {
    for (const [answer, reason, sentence] of [
      [{}, "malformed", "answered METHOD without a list"],
      [refusing(-32603), "malformed", "answered METHOD with error -32603"],
      [() => html(500), "unreachable", "is failing (HTTP 500)"],
      [() => html(405), "malformed", "refused a request without an MCP error (HTTP 405)"],
    ] as const) {
      for (const [index, method] of LIST_METHODS.entries()) {
        const server = serve({ ...EVERYTHING, [method]: answer });
        const { catalog, ttlMs } = await read(server, revision);
        const list = LIST_KINDS[index];
        expect(names(catalog)).toEqual({ ...ALL_NAMES, [list ?? ""]: [] });
        expect(catalog.faults).toEqual([
          {
            ...{ list, reason, since: expect.any(Number) as number },
            message: `Upstream "docs" ${sentence.replace("METHOD", method)}`,
          },
        ]);
        expect([catalog.isPublic, ttlMs]).toEqual([false, 60_000]);
        // One after the other, to the end.
        expect(server.asked.filter((asked) => LIST_METHODS.includes(asked))).toEqual(LIST_METHODS);
      }
    }
  });

  test("a list that never comes does not hold up the others", async ({ expect }) => {
    for (const [index, method] of LIST_METHODS.entries()) {
      const server = serve({ ...EVERYTHING, [method]: () => new Promise(() => undefined) });
      const { catalog } = await read(server, revision, { limits: { catalogSeconds: 1 } });
      const list = LIST_KINDS[index];
      expect(names(catalog)).toEqual({ ...ALL_NAMES, [list ?? ""]: [] });
      expect(catalog.faults).toMatchObject([
        { list, reason: "timeout", message: `Upstream "docs" did not answer ${method} in time` },
      ]);
    }
  });

  test("a list that is not given is the last one that was, for as long as it may be shown", async ({
    expect,
  }) => {
    const { catalog: whole } = await read(serve(EVERYTHING), revision);
    const others = { ...EVERYTHING, "tools/list": { ...CACHEABLE, tools: [{ name: "new" }] } };
    const ill = serve({ ...others, "resources/list": {}, "prompts/list": refusing(-32603) });
    const { catalog } = await read(ill, revision, { last: whole });
    expect(names(catalog)).toEqual({ ...ALL_NAMES, tools: ["new"] });
    expect(catalog.faults.map(({ list }) => list)).toEqual(["resources", "prompts"]);
    // It goes on, and is no other catalog for that.
    const before = { ...catalog, faults: catalog.faults.map((fault) => ({ ...fault, since: 7 })) };
    const again = await read(ill, revision, {
      ...{ last: before, limits: { staleCatalogHours: 1e6 } },
    });
    expect(again.catalog.faults).toEqual(before.faults);
    const once = await read(ill, revision, {
      ...{ last: again.catalog, limits: { staleCatalogHours: 1e6 } },
    });
    expect(once.catalog.version).toBe(again.catalog.version);
    expect(names(once.catalog)).toEqual({ ...ALL_NAMES, tools: ["new"] });
    const late = await read(ill, revision, { last: before });
    expect(names(late.catalog)).toEqual({
      ...ALL_NAMES,
      tools: ["new"],
      resources: [],
      prompts: [],
    });
    const well = await read(serve(others), revision, { last: before });
    expect([well.catalog.faults, names(well.catalog)]).toEqual([
      [],
      { ...ALL_NAMES, tools: ["new"] },
    ]);
  });

  test("a kept list has the room that the others leave", async ({ expect }) => {
    const prompts = Array.from({ length: 50 }, (_, n) => ({ name: `prompt ${n}` }));
    const many = { ...EVERYTHING, "prompts/list": { ...CACHEABLE, prompts } };
    const { catalog: whole } = await read(serve(many), revision);
    const tools = Array.from({ length: 30 }, (_, n) => ({ name: `tool ${n}` }));
    const ill = serve({ ...EVERYTHING, "tools/list": { tools }, "prompts/list": {} });
    const { catalog } = await read(ill, revision, { last: whole, limits: { catalogBytes: 3000 } });
    expect(catalog.lists.tools).toHaveLength(30);
    const { length } = catalog.lists.prompts;
    expect([length > 0, length < 50]).toEqual([true, true]);
    expect(catalog.flaws).toEqual([
      `Upstream "docs" lists more prompts than the gateway keeps; the first ${length} are shown`,
    ]);
  });

  test("a server that gives no list at all, or goes away, is not to be had", async ({ expect }) => {
    const refused = Object.fromEntries(LIST_METHODS.map((method) => [method, refusing(-32603)]));
    expect(await failureOf(read(serve(refused), revision))).toMatchObject({
      name: "UpstreamError",
      message: 'Upstream "docs" answered tools/list with error -32603',
    });
    for (const status of [401, 429, 503]) {
      const server = serve({ ...EVERYTHING, "resources/templates/list": () => html(status) });
      expect(await failureOf(read(server, revision))).toMatchObject({ status });
      expect(server.asked).not.toContain("prompts/list");
    }
  });

  test("ten thousand tools of six hundred characters have room", async ({ expect }) => {
    const schema = { type: "object", properties: { query: { type: "string" } } };
    const tools = Array.from({ length: 10_000 }, (_, n) => ({
      ...{ name: `tool-${n}`, description: "x".repeat(510), inputSchema: schema },
    }));
    const server = serve({ ...EVERYTHING, "tools/list": { ...CACHEABLE, tools } });
    const { catalog } = await read(server, revision, { target: { maxMessageChars: 2 ** 24 } });
    expect([catalog.lists.tools.length, catalog.flaws]).toEqual([10_000, []]);
    expect(catalog.lists.tools[0]?.text.length).toBeGreaterThan(600);
  });

  test("a server that is not to be had says why", async ({ expect }) => {
    for (const [status, failure] of [
      [503, "unreachable"],
      [401, "unauthorized"],
      [429, "overloaded"],
    ] as const) {
      const refused = read({ answer: () => html(status) }, revision);
      expect(await failureOf(refused)).toMatchObject({ name: "UpstreamError", failure });
    }
  });

  test.for([opening, "tools/list"])(
    "a reading ends when it is aborted while the server does not answer %s",
    async (stalling, { expect }) => {
      const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>();
      const server = serve({
        ...EVERYTHING,
        [stalling]: (seen) => {
          ask();
          return new Promise((_, reject) => {
            seen.signal?.addEventListener("abort", () => reject(new Error("aborted")));
          });
        },
      });
      const controller = new AbortController();
      const reading = failureOf(read(server, revision, { signal: controller.signal }));
      await isAsked;
      const reason = new UpstreamError("docs", "timeout", "is late");
      controller.abort(reason);
      expect(await reading).toBe(reason);
    },
  );

  test("an aborted reading sends no request", async ({ expect }) => {
    const server = serve(EVERYTHING);
    const reason = new Error("over");
    const reading = read(server, revision, { signal: AbortSignal.abort(reason) });
    expect(await failureOf(reading)).toBe(reason);
    expect(server.asked).toEqual([]);
  });

  test("limits cut a catalog and never fail it", async ({ expect }) => {
    const many = Array.from({ length: 50 }, (_, n) => ({ name: `t${n}`, uri: `r:${n}` }));
    const server = serve({
      "tools/list": { tools: many },
      "resources/list": { resources: many },
      "prompts/list": { prompts: [] },
    });
    const { catalog } = await read(server, revision, { limits: { catalogItems: 10 } });
    expect([catalog.lists.tools.length, catalog.lists.resources.length]).toEqual([10, 10]);
    expect(catalog.flaws).toEqual([
      'Upstream "docs" lists more tools than the gateway keeps; the first 10 are shown',
      'Upstream "docs" lists more resources than the gateway keeps; the first 10 are shown',
    ]);
    const small = (await read(server, revision, { limits: { catalogBytes: 2000 } })).catalog;
    const chars = JSON.stringify(small.lists).length;
    expect(chars).toBeGreaterThan(500);
    expect(chars).toBeLessThan(2500);
  });

  test("an endless description of a server is cut", async ({ expect }) => {
    const long = { name: "x".repeat(70_000), version: "1" };
    const server = serve({
      initialize: {
        ...{ protocolVersion: LEGACY, capabilities: {}, serverInfo: long },
        instructions: "y".repeat(20_000),
      },
      "server/discover": {
        ...{ ...CACHEABLE, supportedVersions: [MODERN], capabilities: {}, serverInfo: long },
        instructions: "y".repeat(20_000),
      },
    });
    const target = { maxMessageChars: 1_000_000 };
    const { about, flaws } = (await read(server, revision, { target })).catalog;
    expect(about.serverInfo).toBeUndefined();
    expect(about.instructions).toBe("y".repeat(16_384));
    expect(flaws).toEqual([
      'Upstream "docs" says more of itself than the gateway keeps; the rest is left out',
    ]);
  });

  test("a list of 50 MB is refused before it is read", async ({ expect }) => {
    let taken = 0;
    function* chunks(): Generator<Uint8Array, void, void> {
      yield bytesOf('{"jsonrpc":"2.0","id":1,"result":{"tools":[');
      const tool = bytesOf(`{"name":"t","description":"${"x".repeat(65_000)}"},`);
      for (; taken < 50e6; taken += tool.length) yield tool;
    }
    const server = serve({
      ...EVERYTHING,
      "tools/list": () =>
        new Response(bodyOf(chunks()), { headers: { "Content-Type": "application/json" } }),
    });
    const target = { maxMessageChars: 1_000_000 };
    const { catalog } = await read(server, revision, { target });
    expect(names(catalog)).toEqual({ ...ALL_NAMES, tools: [] });
    expect(catalog.faults).toMatchObject([
      {
        ...{ list: "tools", reason: "malformed" },
        message: 'Upstream "docs" sent a message of over 1000000 characters',
      },
    ]);
    expect(taken).toBeLessThan(2_000_000);
  });

  test("the version changes whenever anything in the catalog does", async ({ expect }) => {
    const version = versionsOf(revision, serve);
    const versions = [
      await version({}),
      await version({}, { tools: { listChanged: true }, prompts: {} }),
      await version({ "tools/list": { ...CACHEABLE, tools: [] } }),
      await version({ "tools/list": { ...CACHEABLE, tools: [{ name: "t", title: "T" }] } }),
      await version({ "tools/list": { ...CACHEABLE, tools: [{ name: "t" }, { name: "u" }] } }),
      await version({ "tools/list": { ...CACHEABLE, tools: [{ name: "u" }, { name: "t" }] } }),
      await version({ "tools/list": { ...CACHEABLE, tools: [{ name: "t" }, {}] } }),
      await version({ "prompts/list": { ...CACHEABLE, prompts: [] } }),
      await version({ "tools/list": { tools: [{ name: "t" }] } }),
    ];
    expect(new Set(versions).size).toBe(versions.length);
    expect(await version({})).toBe(versions[0]);
    // How long it is good is no part of it.
    const later = { ...EVERYTHING["tools/list"], ttlMs: 1 };
    expect(await version({ "tools/list": later })).toBe(versions[0]);
    for (const each of versions) expect(each).toMatch(/^[\w-]{16}$/);
  });
});
