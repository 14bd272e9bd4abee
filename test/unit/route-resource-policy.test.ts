/** Resources that may not be seen: in lists, by templates, and in every spelling of their URIs. */

import { describe, test } from "vitest";

import { catalogOf, MODERN } from "./catalog-fixture.ts";
import { type Part, policy, routeScene, short } from "./route-fixture.ts";

const read = "resources/read";
const has = { resources: ["file:///a/1", "file:///s/1"], templates: ["file:///{+path}"] };
const shutS: Part = { slug: "a", has, resources: policy(undefined, ["file:///s/*"]) };

const missing = (uri: string, code = -32002): unknown => ({
  kind: "reply",
  reply: { error: { code, message: "Resource not found", data: { uri } } },
});

describe("a resource that is forbidden", () => {
  test("looks like one that is not there, in both eras", async ({ expect }) => {
    const parts: readonly [Part, ...Part[]] = [
      { ...shutS, has: { resources: has.resources } },
      { slug: "b", capabilities: { tools: {} } },
    ];
    const scene = routeScene(parts);
    expect(short(await scene.route(read, { uri: "file:///a/1" }))).toEqual(["a", "file:///a/1"]);
    for (const uri of ["file:///s/1", "file:///s/none", "file:///a/none"]) {
      expect(await scene.route(read, { uri })).toEqual(missing(uri));
      expect(await scene.route(read, { uri }, MODERN)).toEqual(missing(uri, -32602));
      expect(await scene.route("resources/subscribe", { uri })).toEqual(missing(uri));
      expect(await scene.ownerOf(uri)).toBe(undefined);
    }
  });

  test("may be another server's", async ({ expect }) => {
    const scene = routeScene([shutS, { slug: "b", has: { resources: ["file:///s/1"] } }]);
    expect(await scene.ownerOf("file:///s/1")).toBe("b");
    // And others are still asked for what nobody lists.
    expect(short(await scene.route(read, { uri: "file:///s/2" }))).toEqual(["b"]);
  });

  test("is forbidden at the server's own endpoint", async ({ expect }) => {
    const scene = routeScene([shutS], { keepsNames: true });
    expect(short(await scene.route(read, { uri: "file:///a/1" }))).toEqual(["a", "file:///a/1"]);
    expect(short(await scene.route(read, { uri: "file:///a/2" }))).toEqual(["a", "file:///a/2"]);
    for (const uri of ["file:///s/1", "file:///s/2", "other:x"]) {
      expect(await scene.route(read, { uri })).toEqual(missing(uri));
    }
    expect(short(await scene.route(read, { uri: ["file:///s/1"] }))).toBe(-32602);
  });

  test.for([
    "FILE:///s/1",
    "file:///%73/1",
    "file:///s%2F1",
    "file:///a/../s/1",
    "file:///a/%2e%2e/s/1",
    "file:///a/%252e%252e/s/1",
    "file:///./s/1",
    "file:///a/..\\s/1",
    "file:///s\\1",
    "file:///a/..",
  ])("is forbidden as %s", async (uri, { expect }) => {
    const scene = routeScene([shutS], { keepsNames: true });
    expect(await scene.route(read, { uri })).toEqual(missing(uri));
  });

  test.for(["file:///a/2", "file:///a/...", "file:///a/.hidden", "file:///a/b..c", "file:///a/%"])(
    "does not take %s with it",
    async (uri, { expect }) => {
      const scene = routeScene([shutS], { keepsNames: true });
      expect(short(await scene.route(read, { uri }))).toEqual(["a", uri]);
    },
  );
});

describe("what is allowed alone", () => {
  const parts: readonly [Part] = [
    { slug: "a", has, resources: policy(["file:///a/*", "db:named"]) },
  ];

  test("is had by a template, as far as the pattern goes", async ({ expect }) => {
    const scene = routeScene(parts);
    expect(short(await scene.route(read, { uri: "file:///a/2" }))).toEqual(["a", "file:///a/2"]);
    for (const uri of ["file:///s/1", "file:///a/../s/1", "db:other", "other:x"]) {
      expect(await scene.route(read, { uri })).toEqual(missing(uri));
    }
  });

  test("is had by its very name, listed or not", async ({ expect }) => {
    const scene = routeScene([...parts, { slug: "b", capabilities: {} }]);
    expect(short(await scene.route(read, { uri: "db:named" }))).toEqual(["a"]);
    expect(await routeScene(parts).ownerOf("db:named")).toBe("a");
  });

  test("by the text of its template is what comes from it", async ({ expect }) => {
    const resources = policy(["db://{table}"], ["db://secrets"]);
    const scene = routeScene([{ slug: "a", has: { templates: ["db://{table}"] }, resources }]);
    expect(await scene.ownerOf("db://users")).toBe("a");
    expect(await scene.ownerOf("db://secrets")).toBe(undefined);
  });

  test("is not what comes from a template that is forbidden", async ({ expect }) => {
    const resources = policy(["db:*"], ["db:{table}"]);
    const scene = routeScene([{ slug: "a", has: { templates: ["db:{table}"] }, resources }]);
    expect(await scene.ownerOf("db:users")).toBe(undefined);
  });

  test("is found as soon as it is listed", async ({ expect }) => {
    const scene = routeScene([...parts, { slug: "b", capabilities: {} }]);
    scene.said.set("a", catalogOf({}));
    expect(await scene.route(read, { uri: "file:///a/9" })).toEqual(missing("file:///a/9"));
    scene.said.set("a", catalogOf({ resources: ["file:///a/9"] }));
    expect(short(await scene.route(read, { uri: "file:///a/9" }))).toEqual(["a", "file:///a/9"]);
  });
});
