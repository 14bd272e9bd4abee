/** Public names at an endpoint, and the server of a name: the rules, one by one. */

import { describe, test } from "vitest";

import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import { Naming, namingOf } from "../../../../src/catalog/names/naming.ts";
import { alone, meeting, publicName, serverOf } from "./naming-fixture.ts";

const SHORT = /^(?:[A-Za-z_][A-Za-z0-9_-]*)?_0[0-9a-v]{17}$/;
const FITS = /^[A-Za-z_][A-Za-z0-9_-]*$/;

describe("at a merged endpoint", () => {
  const endpoint = meeting(
    { slug: "docs" },
    { slug: "git", prefix: "g_", rename: { list: "all", swap_a: "swap_b", swap_b: "swap_a" } },
    { slug: "hub", prefix: "g_hub_" },
    { slug: "bare", prefix: "" },
  );
  const docs = serverOf(endpoint, "docs");
  const git = serverOf(endpoint, "git");
  const hub = serverOf(endpoint, "hub");
  const bare = serverOf(endpoint, "bare");
  const naming = new Naming(endpoint, 45);

  test.for([
    { server: docs, name: "search", called: "docs__search" },
    { server: docs, name: "Search-2", called: "docs__Search-2" },
    { server: docs, name: "_", called: "docs___" },
    { server: docs, name: "2fa", called: "docs__2fa" },
    { server: docs, name: "list", called: "docs__list" },
    { server: docs, name: "g_list", called: "docs__g_list" },
    { server: docs, name: "a".repeat(39), called: `docs__${"a".repeat(39)}` },
    { server: docs, name: "x_0123", called: "docs__x_0123" },
    { server: docs, name: `x_0${"1".repeat(16)}`, called: `docs__x_0${"1".repeat(16)}` },
    { server: docs, name: `x_0${"1".repeat(16)}w`, called: `docs__x_0${"1".repeat(16)}w` },
    { server: docs, name: "get-user-authorization", called: "docs__get-user-authorization" },
    { server: git, name: "push", called: "g_push" },
    { server: git, name: "list", called: "g_all" },
    { server: git, name: "swap_a", called: "g_swap_b" },
    { server: git, name: "swap_b", called: "g_swap_a" },
    { server: git, name: "hub", called: "g_hub" },
    { server: hub, name: "push", called: "g_hub_push" },
    { server: bare, name: "push", called: "push" },
    { server: bare, name: "docs_", called: "docs_" },
    { server: bare, name: "__proto__", called: "__proto__" },
  ])("$name of its server is published as $called", ({ server, name, called }, { expect }) => {
    expect(publicName(naming, server, name)).toBe(called);
    expect(naming.locate("tools", called)).toEqual({ kind: "plain", server, name });
  });

  test.for([
    { why: "it is too long", server: docs, name: "a".repeat(40), head: `docs__${"a".repeat(20)}` },
    { why: "it has a dot", server: docs, name: "admin.tools.list", head: "docs__admin_tools_list" },
    { why: "it has a space", server: docs, name: "say hello", head: "docs__say_hello" },
    { why: "it has accents", server: docs, name: "größe_ändern", head: "docs__gro_e_andern" },
    { why: "it has no letters of ours", server: docs, name: "検索", head: "docs" },
    { why: "it has a line break", server: docs, name: "a\n", head: "docs__a" },
    {
      why: "it looks short",
      server: docs,
      name: `x_0${"1".repeat(17)}`,
      head: `docs__x_0${"1".repeat(17)}`,
    },
    { why: "another has its name", server: git, name: "all", head: "g_all" },
    { why: "it seems to be another's", server: git, name: "hub_push", head: "g_hub_push" },
    {
      why: "it has the prefix of another",
      server: bare,
      name: "docs__search",
      head: "docs__search",
    },
    { why: "it begins with a digit", server: bare, name: "2fa", head: "_2fa" },
    { why: "it begins with a dash", server: bare, name: "-x", head: "_-x" },
    { why: "it is empty", server: bare, name: "", head: "" },
  ])("a name is shortened when $why", ({ server, name, head }, { expect }) => {
    const called = publicName(naming, server, name);
    expect(called).toMatch(SHORT);
    expect(called.length).toBeLessThanOrEqual(45);
    expect(called.slice(0, -19)).toBe(head);
    expect(naming.locate("tools", called)).toEqual({ kind: "short", server });
  });

  test.for([
    { why: "what was renamed", name: "g_list" },
    { why: "what has no server's prefix and no form", name: "docs.search" },
    { why: "nothing", name: "" },
    { why: "a short form of no server", name: `docs__a_0vvvv${"0".repeat(13)}` },
    { why: "a name that is far too long", name: "a".repeat(5_000_000) },
    { why: "a hostile name that is far too long", name: "_0".repeat(2_500_000) },
    { why: "one that begins with a digit", name: "2fa" },
    { why: "one in another alphabet", name: "検索" },
    { why: "one with a line break", name: "docs__search\n" },
  ])("$why has no server", ({ name }, { expect }) => {
    expect(naming.locate("tools", name)).toEqual({ kind: "unknown" });
  });

  test("a name that is too long to be published may be requested", ({ expect }) => {
    const name = "a".repeat(100);
    expect(naming.locate("tools", `docs__${name}`)).toMatchObject({ kind: "plain", name });
  });

  test("every name of a list is published once", ({ expect }) => {
    expect(naming.publicNames(git, "tools", ["push", "list", "push"])).toEqual(
      new Map([
        ["push", "g_push"],
        ["list", "g_all"],
      ]),
    );
    const once = naming.publicNames(docs, "tools", ["a b"]);
    expect(naming.publicNames(docs, "tools", ["a b", "a", "a b"]).get("a b")).toBe(once.get("a b"));
    expect(naming.publicNames(git, "tools", [])).toEqual(new Map());
  });

  test("names without a prefix have no server unless a prefix is empty", ({ expect }) => {
    const naming = new Naming(meeting({ slug: "a" }, { slug: "b" }), 45);
    for (const name of ["search", "a_search", "A__search", "c__search", "_a__x"]) {
      expect(naming.locate("tools", name)).toEqual({ kind: "unknown" });
    }
  });

  test("tools and prompts are renamed apart, and their short names differ", ({ expect }) => {
    const git2 = { ...git, prompts: docs.prompts };
    const mixed: Endpoint = { ...endpoint, servers: [git2, docs] };
    const naming = new Naming(mixed, 45);
    expect(publicName(naming, git2, "list", "tools")).toBe("g_all");
    expect(publicName(naming, git2, "list", "prompts")).toBe("g_list");
    expect(naming.locate("prompts", "g_list")).toMatchObject({ kind: "plain", name: "list" });
    expect(naming.locate("prompts", "g_all")).toMatchObject({ kind: "plain", name: "all" });
    expect(publicName(naming, git2, "a b", "tools")).not.toBe(
      publicName(naming, git2, "a b", "prompts"),
    );
  });

  test("short names never change", ({ expect }) => {
    // Clients keep them: in prompts, in what a person has allowed. A change here breaks all of that.
    expect([
      publicName(naming, docs, "admin.tools.list"),
      publicName(naming, docs, "検索", "prompts"),
      publicName(naming, bare, "a".repeat(100)),
    ]).toEqual([
      "docs__admin_tools_list_0a7bi2v1h82hhgkhr1",
      "docs_0a7bi7vrgtg59vl3dj",
      "aaaaaaaaaaaaaaaaaaaaaaaaaa_05ieddmdeiro2her9u",
    ]);
  });

  test("a server of another endpoint is a bug", ({ expect }) => {
    const [stranger] = meeting({ slug: "other" }).servers;
    expect(() => naming.publicNames(stranger, "tools", ["a"])).toThrow("other");
  });
});

describe("whatever the limit", () => {
  const slug = "a-server-with-a-long-nam";
  test.for([24, 25, 30, 44, 45, 46, 64, 128])(
    "names have at most %i characters",
    (maxChars, { expect }) => {
      const endpoint = meeting(
        { slug },
        { slug: `${slug.slice(0, -1)}b` },
        { slug: "x", prefix: "" },
      );
      const naming = new Naming(endpoint, maxChars);
      const seen = new Set<string>();
      for (const server of endpoint.servers) {
        for (const name of [
          "",
          "a",
          "b",
          "a".repeat(64),
          "a".repeat(65),
          "1",
          "-",
          "é".repeat(200),
        ]) {
          const called = publicName(naming, server, name);
          expect(called).toMatch(FITS);
          expect(called.length).toBeLessThanOrEqual(maxChars);
          seen.add(called);
          expect(naming.locate("tools", called)).toMatchObject({ server });
        }
      }
      expect(seen.size).toBe(24);
    },
  );

  test("the readable part of a name is cut, not its tail", ({ expect }) => {
    const endpoint = meeting({ slug: "a" }, { slug: "b" });
    const [a] = endpoint.servers;
    const fits = "x".repeat(21);
    expect(publicName(new Naming(endpoint, 24), a, fits)).toBe(`a__${fits}`);
    expect(publicName(new Naming(endpoint, 24), a, `${fits}x`)).toMatch(/^a__xx_0[0-9a-v]{17}$/);
    expect(publicName(new Naming(endpoint, 25), a, `${fits}x`)).toBe(`a__${fits}x`);
  });
});

describe("the only server of an endpoint", () => {
  const rename = { "old name": "new", list: "all" };
  const names = ["search", "a.b/c d", "検索", "", "a".repeat(1000), `x_0${"1".repeat(17)}`, "😀"];

  test("keeps its names, whatever they are", ({ expect }) => {
    for (const endpoint of [alone({ slug: "a", rename }), meeting({ slug: "a", prefix: "p_" })]) {
      const [server] = endpoint.servers;
      const naming = new Naming(endpoint, 24);
      const all = [...names, "old name", "new"];
      expect(naming.publicNames(server, "tools", all)).toEqual(new Map(all.map((n) => [n, n])));
      for (const name of all) {
        expect(naming.locate("prompts", name)).toEqual({ kind: "plain", server, name });
      }
    }
  });

  test("has the names that its operator gave", ({ expect }) => {
    const endpoint = meeting({ slug: "a", rename });
    const [server] = endpoint.servers;
    const naming = new Naming(endpoint, 45);
    for (const name of ["search", "a.b/c d", "検索", "", "a".repeat(1000), "😀"]) {
      expect(publicName(naming, server, name)).toBe(name);
      expect(naming.locate("tools", name)).toEqual({ kind: "plain", server, name });
    }
    for (const [name, called] of Object.entries(rename)) {
      expect(publicName(naming, server, name)).toBe(called);
      expect(naming.locate("tools", called)).toEqual({ kind: "plain", server, name });
      expect(naming.locate("tools", name)).toEqual({ kind: "unknown" });
    }
    // What lost its name to another is the only thing that has a short one.
    expect(publicName(naming, server, "new")).toMatch(SHORT);
    expect(naming.locate("tools", publicName(naming, server, "new"))).toEqual({
      kind: "short",
      server,
    });
  });
});

test("an only server has no short names when no item lost its name", ({ expect }) => {
  const endpoint = meeting({ slug: "a", rename: { one: "two", two: "one" } });
  const [server] = endpoint.servers;
  const naming = new Naming(endpoint, 45);
  const looksShort = `x_0${"1".repeat(17)}`;
  expect(publicName(naming, server, looksShort)).toBe(looksShort);
  expect(naming.locate("tools", looksShort)).toEqual({ kind: "plain", server, name: looksShort });
});

test("namingOf() makes one naming for each endpoint", ({ expect }) => {
  const endpoint = meeting({ slug: "a" }, { slug: "b" });
  expect(namingOf(endpoint, 45)).toBe(namingOf(endpoint, 45));
  expect(namingOf(meeting({ slug: "a" }, { slug: "b" }), 45)).not.toBe(namingOf(endpoint, 45));
});
