/**
 * The operator's settings for a server's tools, prompts and resources: prefix, globs and other
 * names.
 */

import { describe, test } from "vitest";

import { parseConfig } from "../../../src/config/config.ts";
import { mistakesOf } from "./said.ts";
import type { Server } from "../../../src/endpoint/server.ts";
import { isAllowed, OPEN_POLICY } from "../../../src/policy/item-policy.ts";

const url = "https://a.example.com/mcp";

function parse(servers: Record<string, object>): ReturnType<typeof parseConfig> {
  const entries = Object.entries(servers).map(([slug, entry]) => [slug, { url, ...entry }]);
  return parseConfig({ AUTH_MODE: "none", MCP_SERVERS: Object.fromEntries(entries) });
}

/** @throws Error when the configuration is refused: the test meant it to be good. */
function serversOf(servers: Record<string, object>): Record<string, Server> {
  const parsed = parse(servers);
  const mistakes = mistakesOf(parsed);
  if (!parsed.ok || mistakes.length > 0) throw new Error(mistakes.join("\n"));
  return Object.fromEntries(parsed.config.servers);
}

function problemsOf(servers: Record<string, object>): readonly string[] {
  const parsed = parse(servers);
  return mistakesOf(parsed);
}

const clash = (one: string, other: string, prefix: string): string =>
  `MCP_SERVERS.${other}.prefix is "${prefix}", as that of "${one}"; each server needs its own.`;

describe("the prefix", () => {
  test.for([
    { slug: "docs", prefix: "docs__" },
    { slug: "d-2", prefix: "d-2__" },
    { slug: "3d", prefix: "_3d__" },
    { slug: "-x", prefix: "_-x__" },
    { slug: "a-server-with-a-long-nam", prefix: "a-server-with-a-long-nam__" },
  ])("of $slug is $prefix by default", ({ slug, prefix }, { expect }) => {
    expect(serversOf({ [slug]: {} })[slug]?.prefix).toBe(prefix);
  });

  test.for(["", "_", "Git-Hub_", "a".repeat(24), "_1"])("can be %j", (prefix, { expect }) => {
    expect(serversOf({ a: { prefix } })["a"]?.prefix).toBe(prefix);
  });

  test.for(["1_", "-", "a.", "a b", "é", "a\n", "a".repeat(25)])(
    "cannot be %j",
    (prefix, { expect }) => {
      const [sentence, ...others] = problemsOf({ a: { prefix } });
      expect(others).toEqual([]);
      expect(sentence).toMatch(/^MCP_SERVERS\.a\.prefix: has at most 24 characters of [^\n]*\.$/);
    },
  );

  test("belongs to one server alone", ({ expect }) => {
    expect(
      problemsOf({ a: { prefix: "x" }, b: {}, c: { prefix: "x" }, d: { prefix: "x" } }),
    ).toEqual([clash("a", "c", "x"), clash("a", "d", "x")]);
    expect(problemsOf({ a: { prefix: "" }, b: { prefix: "" } })).toEqual([clash("a", "b", "")]);
    expect(problemsOf({ a: { prefix: "b__" }, b: {} })).toEqual([clash("a", "b", "b__")]);
    expect(problemsOf({ a: { prefix: "x" }, b: { prefix: "X" }, c: { prefix: "x_" } })).toEqual([]);
    expect(problemsOf({ a: { prefix: "" } })).toEqual([]);
  });
});

describe("visible items", () => {
  test("is everything by default, by its own name", ({ expect }) => {
    const { a } = serversOf({ a: {} });
    expect(a).toMatchObject({ tools: OPEN_POLICY, prompts: OPEN_POLICY, resources: OPEN_POLICY });
    const { b } = serversOf({ b: { tools: {}, prompts: {}, resources: {} } });
    expect(b).toMatchObject({ tools: OPEN_POLICY, prompts: OPEN_POLICY, resources: OPEN_POLICY });
  });

  test.for(["tools", "prompts", "resources"] as const)(
    "of %s is allowed and denied",
    (kind, { expect }) => {
      const entry = { [kind]: { allow: ["get_*", "put"], deny: ["get_x"] } };
      const { a } = serversOf({ a: entry });
      if (a === undefined) throw new Error("no server");
      const names = ["get_a", "get_x", "put", "putt"];
      expect(names.filter((name) => isAllowed(a[kind], name))).toEqual(["get_a", "put"]);
      for (const other of ["tools", "prompts", "resources"] as const) {
        if (other !== kind) expect(a[other]).toEqual(OPEN_POLICY);
      }
    },
  );

  test("is nothing when nothing is allowed", ({ expect }) => {
    expect(serversOf({ a: { tools: { allow: [] } } })["a"]?.tools.allow).toEqual([]);
  });

  test("can have other names", ({ expect }) => {
    const rename = { "old name": "new", constructor: "build", 検索: "search" };
    const { a } = serversOf({ a: { tools: { rename }, prompts: { rename: { x: "new" } } } });
    expect(a?.tools.rename).toEqual(new Map(Object.entries(rename)));
    expect(a?.prompts.rename).toEqual(new Map([["x", "new"]]));
  });

  test("have lists of a bounded length", ({ expect }) => {
    const globs = Array.from({ length: 1000 }, (_, at) => `${at}`.padEnd(256, "x"));
    const rename = Object.fromEntries(globs.map((glob, at) => [glob, `n${at}`]));
    expect(problemsOf({ a: { tools: { allow: globs, deny: globs, rename } } })).toEqual([]);
  });
});

describe("one sentence for", () => {
  const many = Array.from({ length: 1001 }, (_, at) => `n${at}`);
  const renames = Object.fromEntries(many.map((name) => [name, name]));
  test.for([
    {
      name: "a list for a table",
      entry: { prompts: ["get_*"] },
      part: "prompts: must be a table.",
    },
    { name: "null", entry: { prompts: null }, part: "prompts: must be a table." },
    {
      name: "an unknown key",
      entry: { tools: { allowed: [] } },
      part: 'tools: has keys that this version does not know: allowed (did you mean "allow"?).',
    },
    {
      name: "a glob for a list",
      entry: { tools: { allow: "get_*" } },
      part: 'tools.allow: must be a list of globs, like ["get_*"].',
    },
    {
      name: "a number for a glob",
      entry: { tools: { deny: ["a", 5] } },
      part: "tools.deny.1: must be a string.",
    },
    {
      name: "an empty glob",
      entry: { prompts: { deny: [""] } },
      part: "prompts.deny.0: must not be empty.",
    },
    {
      name: "a long glob",
      entry: { resources: { allow: ["a".repeat(257)] } },
      part: "resources.allow.0: must have at most 256 characters.",
    },
    {
      name: "many globs",
      entry: { resources: { deny: many } },
      part: "resources.deny: must have at most 1000 entries.",
    },
    {
      name: "a list of names",
      entry: { tools: { rename: ["a"] } },
      part: "tools.rename: must be a table of the server's names and yours.",
    },
    {
      name: "many names",
      entry: { tools: { rename: renames } },
      part: "tools.rename: must have at most 1000 entries.",
    },
    {
      name: "a long name of the server",
      entry: { tools: { rename: { ["a".repeat(257)]: "a" } } },
      part: "tools.rename: must have names of at most 256 characters.",
    },
    ...["", "a b", "a.b", "é", "a".repeat(65), "a\n"].map((calling) => ({
      name: `the name ${JSON.stringify(calling)}`,
      entry: { prompts: { rename: { a: calling } } },
      part: 'prompts.rename.a: has 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-".',
    })),
    {
      name: "a name that is no string",
      entry: { prompts: { rename: { a: true } } },
      part: "prompts.rename.a: must be a string.",
    },
    {
      name: "two things with one name",
      entry: { tools: { rename: { a: "x", "b\n": "x", c: "y" } } },
      part: 'tools.rename: "a" and "b\\n" cannot both be called "x".',
    },
    {
      name: "a resource with another name",
      entry: { resources: { rename: { "file:///a": "a" } } },
      part: "resources.rename: cannot be: resources are known by their URIs.",
    },
  ])("$name", ({ entry, part }, { expect }) => {
    expect(problemsOf({ a: entry })).toEqual([`MCP_SERVERS.a.${part}`]);
  });

  test("each of the mistakes of an entry that has others", ({ expect }) => {
    const rename = { a: "x", b: "x" };
    const sentences = problemsOf({ a: { url: "x", tools: { rename }, prompts: { rename } } });
    expect(sentences.map((sentence) => sentence.split(/[ :]/, 1)[0])).toEqual([
      "MCP_SERVERS.a.url",
      "MCP_SERVERS.a.tools.rename",
      "MCP_SERVERS.a.prompts.rename",
    ]);
  });
});
