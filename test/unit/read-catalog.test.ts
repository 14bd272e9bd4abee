/** Everything that a server lists: what holds in both eras. */

import { describe, test } from "vitest";

import type { JsonObject } from "../../src/protocol/json-rpc.ts";
import { UpstreamError } from "../../src/upstream/upstream-error.ts";
import { EVERYTHING, LEGACY, LIST_METHODS, MODERN, read } from "./catalog-reading.ts";
import { bodyOf, bytesOf, failureOf, html } from "./fake-target.ts";
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
  test("lists are read one after the other, and one that fails ends it", async ({ expect }) => {
    for (const [index, method] of LIST_METHODS.entries()) {
      const server = serve({ ...EVERYTHING, [method]: refusing(-32603) });
      expect(await failureOf(read(server, revision))).toMatchObject({
        name: "UpstreamError",
        message: `Upstream "docs" answered ${method} with error -32603`,
      });
      const lists = server.asked.filter((asked) => LIST_METHODS.includes(asked));
      expect(lists).toEqual(LIST_METHODS.slice(0, index + 1));
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
    "it ends when it is told to, while the server does nothing about %s",
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

  test("nothing is asked when it is over before it begins", async ({ expect }) => {
    const server = serve(EVERYTHING);
    const reason = new Error("over");
    const reading = read(server, revision, { signal: AbortSignal.abort(reason) });
    expect(await failureOf(reading)).toBe(reason);
    expect(server.asked).toEqual([]);
  });

  test("bounds cut it, and never fail it", async ({ expect }) => {
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

  test("a server that talks of itself without end is cut short", async ({ expect }) => {
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
    expect(await failureOf(read(server, revision, { target }))).toMatchObject({
      ...{ name: "UpstreamError", failure: "malformed" },
      message: 'Upstream "docs" sent a message of over 1000000 characters',
    });
    expect(taken).toBeLessThan(2_000_000);
  });

  test("its version is another one whenever anything is", async ({ expect }) => {
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
