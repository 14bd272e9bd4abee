/** One bad entry of `MCP_SERVERS` is one bad entry: it is off, and the others are served. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { type Config, parseConfig } from "../../../src/config/config.ts";

const URL_A = "https://a.example.com/mcp";

/** @throws Error when the gateway as a whole is refused. */
function configOf(servers: unknown, env: Record<string, unknown> = {}): Config {
  const parsed = parseConfig({ AUTH_MODE: "none", ...env, MCP_SERVERS: servers });
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  return parsed.config;
}

const GOOD = { url: URL_A };
const BAD: Readonly<Record<string, unknown>> = {
  "without an address": {},
  "that is a string": "https://a.example.com/mcp",
  "whose secret is not set": { url: URL_A, headers: { "X-Key": "${NOT_SET}" } },
  "with a mistake that leaves nothing out": { url: URL_A, tools: { rename: { a: "c", b: "c" } } },
  "with a mistake in a table": { url: URL_A, auth: "oauth", oauth: { clientId: "a" } },
};

describe("an entry", () => {
  test.for(Object.entries(BAD))("%s is off, and the others are served", ([, bad], { expect }) => {
    const { servers, notices } = configOf({ one: GOOD, bad, two: GOOD }, { AUTH_MODE: "oauth" });
    expect([...servers.keys()]).toEqual(["one", "two"]);
    expect(notices).toMatchObject([{ name: "bad", slug: "bad", state: "misconfigured" }]);
    for (const { sentences } of notices) {
      expect(sentences.length).toBeGreaterThan(0);
      for (const sentence of sentences) expect(sentence).toMatch(/^MCP_SERVERS\.bad.*\.$/);
    }
  });

  test("with the prefix of an earlier one is off, whether that one is served or not", ({
    expect,
  }) => {
    const said = ['MCP_SERVERS.b.prefix is "x_", as that of "a"; each server needs its own.'];
    for (const headers of [{}, { "X-Key": "${NOT_SET}" }]) {
      const a = { ...GOOD, headers, prefix: "x_" };
      const { servers, notices } = configOf({ a, b: { ...GOOD, prefix: "x_" }, c: GOOD });
      expect(servers.has("b")).toBe(false);
      expect(servers.has("c")).toBe(true);
      expect(notices.find(({ slug }) => slug === "b")?.sentences).toEqual(said);
    }
  });

  test.for([
    { servers: { "my-files": GOOD }, slug: "my-files" },
    { servers: { files: { ...GOOD, prefix: "my-files__" } }, slug: "files" },
  ])(
    "with a name of published servers is off while people publish any: $servers",
    (entry, { expect }) => {
      const { servers, slug } = entry;
      expect(configOf(servers).servers.has(slug)).toBe(true);
      const { servers: served, notices } = configOf({ ...servers, a: GOOD }, { PUBLISHING: "on" });
      expect([...served.keys()]).toEqual(["a"]);
      expect(notices).toMatchObject([{ slug, state: "misconfigured" }]);
      expect(notices[0]?.sentences[0]).toContain('PUBLISHING is "on"');
    },
  );

  test("without a usable name is named as it is written", ({ expect }) => {
    const { servers, notices } = configOf({ message: GOOD, a: GOOD });
    expect([...servers.keys()]).toEqual(["a"]);
    expect(notices).toMatchObject([{ name: "message", state: "misconfigured" }]);
    expect(notices[0]?.slug).toBeUndefined();
  });

  test("never changes what becomes of another one", ({ expect }) => {
    const bad = fc.constantFrom(...Object.values(BAD));
    const entries = fc.array(fc.tuple(fc.boolean(), bad), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(entries, (drawn) => {
        const table = Object.fromEntries(
          drawn.map(([isGood, entry], n) => [`s${n}`, isGood ? GOOD : entry]),
        );
        const { servers, notices } = configOf(table, { AUTH_MODE: "oauth" });
        const good = Object.keys(table).filter((slug) => table[slug] === GOOD);
        expect([...servers.keys()]).toEqual(good);
        expect(notices.map(({ slug }) => slug)).toEqual(
          Object.keys(table).filter((slug) => table[slug] !== GOOD),
        );
      }),
    );
  });
});

test("the demo takes the place of no bad entry", ({ expect }) => {
  const DEMO = { fetch: () => Promise.resolve(new Response()) };
  const { servers, notices } = configOf({ a: {} }, { DEMO });
  expect([...servers.keys()]).toEqual([]);
  expect(notices).toHaveLength(1);
});
