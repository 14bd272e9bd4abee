/** Where the map of a client is found, and what becomes of the names in it. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { entriesOf } from "../../../../src/config/clients/client-map.ts";
import { WRAPPERS } from "../../../../src/config/clients/spellings.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";

const A = { url: "https://a.example.com/mcp" };
const slugsIn = (table: JsonObject): unknown[] => entriesOf(table).map(({ slug }) => slug);
const out = (table: JsonObject): unknown[] => entriesOf(table).map((entry) => entry.isLeftOut);
const mistakesIn = (table: JsonObject): unknown[] => entriesOf(table).map(({ mistake }) => mistake);

describe("a map", () => {
  test.for(Object.keys(WRAPPERS))("is found in %s", (wrapper, { expect }) => {
    expect(slugsIn({ [wrapper]: { a: A, b: A } })).toEqual(["a", "b"]);
    // Beside other settings, and with broken entries.
    expect(slugsIn({ theme: "dark", ui: {}, [wrapper]: { a: 5, b: {}, c: A } })).toEqual([
      ...["a", "b", "c"],
    ]);
    expect(slugsIn({ [wrapper]: {} })).toEqual([]);
  });

  test.for(Object.keys(WRAPPERS))("may have a server named %s", (name, { expect }) => {
    for (const entry of [A, { command: "npx" }, { serverUrl: "x" }, { service: "BOUND" }]) {
      const [found] = entriesOf({ [name]: entry });
      expect(found).toMatchObject({ name, entry });
    }
  });

  test("may be wrapped twice", ({ expect }) => {
    expect(slugsIn({ mcp: { inputs: [], servers: { a: A } } })).toEqual(["a"]);
    expect(slugsIn({ mcp: { allowed: ["a"], excluded: [] }, mcpServers: { a: A } })).toEqual(["a"]);
  });

  test("leaves out what the settings beside it leave out, and nothing where there is no wrapper", ({
    expect,
  }) => {
    const mcpServers = { a: A, b: A };
    expect(out({ mcpServers, mcp: { allowed: ["b"] } })).toEqual([true, false]);
    expect(out({ mcpServers, mcp: { excluded: ["b"] } })).toEqual([false, true]);
    expect(out({ mcpServers, mcp: { allowed: [] } })).toEqual([true, true]);
    expect(out({ a: A, mcp: { url: A.url, allowed: [] } })).toEqual([false, false]);
    const forbid = (tools: JsonObject): unknown[] => mistakesIn({ mcp: mcpServers, tools });
    expect(forbid({ "a_*": false, b: true })).toEqual([
      expect.stringContaining('"tools.deny"'),
      undefined,
    ]);
    expect(forbid({ "*delete*": false }).every((mistake) => mistake !== undefined)).toBe(true);
  });

  test("in two wrappers is one map", ({ expect }) => {
    const both = { mcpServers: { a: A }, servers: { a: A, b: A } };
    expect(slugsIn(both)).toEqual(["a", "a", "b"]);
    expect(mistakesIn(both)).toEqual([undefined, expect.stringContaining("same slug"), undefined]);
  });
});

describe("a name", () => {
  test.for([
    ["docs", "docs"],
    ["my-docs-2", "my-docs-2"],
    ["My GitHub", "my-github"],
    ["figma_dev", "figma-dev"],
    ["a__b", "a-b"],
    ["UPPER", "upper"],
    ["Wörterbuch & Co.", "worterbuch-co"],
    ["@scope/server", "scope-server"],
    ["io.github.user/some-long-server-name", "io-github-user-some-long"],
    ["日本", undefined],
    ["", undefined],
  ] as const)("%s becomes %s", ([name, slug], { expect }) => {
    expect(slugsIn({ [name]: A })).toEqual([slug]);
  });

  test("that is exactly the slug keeps it, wherever it stands: accounts are kept by slug", ({
    expect,
  }) => {
    expect(mistakesIn({ "My GitHub": A, "my-github": A, "my github": A })).toEqual([
      'its name makes the same slug as "my-github"; rename one of them',
      undefined,
      'its name makes the same slug as "my-github"; rename one of them',
    ]);
    expect(mistakesIn({ "My Docs": A, "my docs": A })).toEqual([
      undefined,
      'its name makes the same slug as "My Docs"; rename one of them',
    ]);
  });

  test("message is an endpoint's", ({ expect }) => {
    expect(entriesOf({ Message: A })).toMatchObject([{ name: "Message", slug: undefined }]);
  });

  test("leads to a slug that is valid, whatever it is, and to each slug at most once", ({
    expect,
  }) => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: "grapheme" }), { maxLength: 6 }), (names) => {
        const found = entriesOf({ mcpServers: Object.fromEntries(names.map((name) => [name, A])) });
        const served = found.filter(({ mistake }) => mistake === undefined);
        for (const { slug } of served) expect(slug).toMatch(/^[a-z0-9-]{1,24}$/);
        expect(new Set(served.map(({ slug }) => slug)).size).toBe(served.length);
        expect(found.every(({ slug, mistake }) => (slug ?? mistake) !== undefined)).toBe(true);
      }),
    );
  });
});
