/** Forbidden resources: in lists, by templates, and in every spelling of their URIs. */

import { describe, test } from "vitest";

import { catalogOf, MODERN } from "../cache/catalog-fixture.ts";
import { type Part, policy, routeScene, short } from "./route-fixture.ts";

const read = "resources/read";
const has = { resources: ["file:///a/1", "file:///s/1"], templates: ["file:///{+path}"] };
const shutS: Part = { slug: "a", has, resources: policy(undefined, ["file:///s/*"]) };

const missing = (uri: string, code = -32002): unknown => ({
  kind: "reply",
  reply: { error: { code, message: "Resource not found", data: { uri } } },
});

describe("a forbidden resource", () => {
  test("looks like an unknown one, in both eras", async ({ expect }) => {
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

  test("may belong to another server", async ({ expect }) => {
    const scene = routeScene([shutS, { slug: "b", has: { resources: ["file:///s/1"] } }]);
    expect(await scene.ownerOf("file:///s/1")).toBe("b");
    // And others are still asked for what nobody lists.
    expect(short(await scene.route(read, { uri: "file:///s/2" }))).toEqual(["b"]);
  });

  test("is forbidden at the server's own endpoint, too", async ({ expect }) => {
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
    "does not forbid %s",
    async (uri, { expect }) => {
      const scene = routeScene([shutS], { keepsNames: true });
      expect(short(await scene.route(read, { uri }))).toEqual(["a", uri]);
    },
  );
});

describe("a denied resource", () => {
  test.for([
    ["file:///srv/private/*", "file:///srv//private/x"],
    ["file:///srv/private/*", "file:///srv%2F%2Fprivate/x"],
    ["file:///srv/private/*", "file:////srv/private/x"],
    ["file:///etc/passwd", "file:///etc/passwd?"],
    ["file:///etc/passwd", "file:///etc/passwd#x"],
    ["file:///etc/passwd", "file:///etc/passwd/"],
    ["file:///srv/private/*", "file:///srv/%70rivate/x?%zz"],
    ["file:///srv/private/*", "file:///srv/%70rivate/x?%ff"],
    ["file:///srv/priv\u00e9/*", "file:///srv/prive\u0301/x"],
    ["file:///srv/priv\u00e9/*", "file:///srv/priv%C3%A9/x?%ff"],
    ["file:///srv/private/*", "file:///srv/PRIVATE/x"],
    ["file:///Srv/Private/*", "file:///srv/private/x"],
    ["file:///srv/priv%61te/*", "file:///srv/private/x"],
    ["file:///srv/private/*", "file:///srv/%25252570rivate/x"],
    ["repo://acme/secret/*", "repo://acme//secret/x"],
    ["repo://acme/secret/*", "repo:///acme/secret/x"],
  ])("%s is denied as %s", async ([deny, uri], { expect }) => {
    const templates = ["file:///{+path}", "repo://{+rest}"];
    const resources = policy(undefined, [deny ?? ""]);
    const scene = routeScene([{ slug: "a", has: { templates }, resources }], { keepsNames: true });
    expect(await scene.route(read, { uri })).toEqual(missing(uri ?? ""));
    const near = "file:///srv/public/priv%E9?q=%";
    expect(short(await scene.route(read, { uri: near }))).toEqual(["a", near]);
  });
});

describe("an allowed folder", () => {
  test.for([
    "file:///pub/%2e%2e/secret?%",
    "file:///pub/%2e%2e/secret#%zz",
    "file:///pub/%2e%2e/%2e%2e/etc/passwd?%",
    "file:///pub/.\t./secret",
    "file:///pub/.%09./secret",
  ])("is not left by %s", async (uri, { expect }) => {
    const resources = policy(["file:///pub/*"]);
    const scene = routeScene([{ slug: "a", has: { templates: ["file:///{+path}"] }, resources }]);
    expect(await scene.route(read, { uri })).toEqual(missing(uri));
    const inside = "file:///pub/m\u00fcn chen?%";
    expect(short(await scene.route(read, { uri: inside }))).toEqual(["a", inside]);
  });
});

describe("a resource that a pattern allows", () => {
  const parts: readonly [Part] = [
    { slug: "a", has, resources: policy(["file:///a/*", "db:named"]) },
  ];

  test("is available through a template as far as the pattern goes", async ({ expect }) => {
    const scene = routeScene(parts);
    expect(short(await scene.route(read, { uri: "file:///a/2" }))).toEqual(["a", "file:///a/2"]);
    for (const uri of ["file:///s/1", "file:///a/../s/1", "db:other", "other:x"]) {
      expect(await scene.route(read, { uri })).toEqual(missing(uri));
    }
  });

  test("is available by its literal name, listed or not", async ({ expect }) => {
    const scene = routeScene([...parts, { slug: "b", capabilities: {} }]);
    expect(short(await scene.route(read, { uri: "db:named" }))).toEqual(["a"]);
    expect(await routeScene(parts).ownerOf("db:named")).toBe("a");
  });

  test("is allowed by the text of its template", async ({ expect }) => {
    const resources = policy(["db://{table}"], ["db://secrets"]);
    const scene = routeScene([{ slug: "a", has: { templates: ["db://{table}"] }, resources }]);
    expect(await scene.ownerOf("db://users")).toBe("a");
    expect(await scene.ownerOf("db://secrets")).toBe(undefined);
  });

  test("does not come from a forbidden template", async ({ expect }) => {
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
