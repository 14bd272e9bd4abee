/** The owner of a resource, by the servers' lists in the operator's order. */

import { describe, test } from "vitest";

import { ownersOf } from "../../../../src/catalog/routing/resource-owners.ts";
import { templateFlaws } from "../../../../src/catalog/uris/uri-template.ts";
import { catalogOf, MODERN } from "../cache/catalog-fixture.ts";
import { type Part, policy, routeScene, short } from "./route-fixture.ts";

/** A server that says it has no resources, and lists none. */
function ofTools(slug: string): Part {
  return { slug, capabilities: { tools: {} } };
}

const read = "resources/read";

describe("a resource", () => {
  test("belongs to the first server that lists it", async ({ expect }) => {
    const scene = routeScene([
      { slug: "a", has: { resources: ["x:1", "x:2"] } },
      { slug: "b", has: { resources: ["x:2", "x:3"] } },
    ]);
    for (const method of [read, "resources/subscribe", "resources/unsubscribe"]) {
      for (const [uri, slug] of [
        ["x:1", "a"],
        ["x:2", "a"],
        ["x:3", "b"],
      ]) {
        expect(short(await scene.route(method, { uri }))).toEqual([slug, uri]);
      }
    }
    expect(await scene.ownerOf("x:3")).toBe("b");
  });

  test("is requested as the client sent it", async ({ expect }) => {
    const scene = routeScene([{ slug: "a", has: { resources: ["x:1"] } }, { slug: "b" }]);
    const call = { method: read, params: { uri: "x:1", _meta: { progressToken: 1 } } };
    expect(await scene.route(call.method, call.params)).toHaveProperty("call", call);
  });

  test("that fits a template does not go to a later server that lists it", async ({ expect }) => {
    const scene = routeScene([
      { slug: "a", has: { templates: ["x:{+any}"] } },
      { slug: "b", has: { resources: ["x:1", "y:1"], templates: ["x:{+any}", "x:{a}/long/{b}"] } },
    ]);
    for (const method of [read, "resources/subscribe", "resources/unsubscribe"]) {
      for (const [uri, slug] of [
        ["x:1", "a"],
        ["x:2", "a"],
        ["x:1/long/2", "a"],
        ["y:1", "b"],
      ]) {
        expect(short(await scene.route(method, { uri }))).toEqual([slug, uri]);
      }
    }
    const owned = await ownersOf(scene.place, MODERN, ["x:1", "x:2", "y:1"]);
    expect([...owned].map(([uri, { slug }]) => [uri, slug])).toEqual([
      ["x:1", "a"],
      ["x:2", "a"],
      ["y:1", "b"],
    ]);
  });

  test("that a server lists does not go to a later server with a template", async ({ expect }) => {
    const scene = routeScene([
      { slug: "a", has: { resources: ["x:1"] } },
      { slug: "b", has: { templates: ["x:{+any}"] } },
    ]);
    expect(await scene.ownerOf("x:1")).toBe("a");
    expect(await scene.ownerOf("x:2")).toBe("b");
  });

  test("is found in the known lists, which are requested once", async ({ expect }) => {
    const scene = routeScene([{ slug: "a", has: { resources: ["x:1"] } }, { slug: "b" }]);
    for (let n = 0; n < 3; n++) await scene.route(read, { uri: "x:1" });
    expect(scene.asked).toEqual(["a", "b"]);
  });

  test("of a server that is down still belongs to it", async ({ expect }) => {
    const scene = routeScene([
      { slug: "a", has: "none" },
      { slug: "b", has: { resources: ["x:1"] } },
    ]);
    expect(short(await scene.route(read, { uri: "x:1" }))).toEqual(["b", "x:1"]);
  });

  test("does not wait for a server that does not answer", async ({ expect }) => {
    const scene = routeScene(
      [
        { slug: "a", has: "never" },
        { slug: "b", has: { resources: ["x:1"] } },
      ],
      { limits: { catalogWaitMilliseconds: 60_000 } },
    );
    expect(short(await scene.route(read, { uri: "x:1" }))).toEqual(["b", "x:1"]);
    expect(scene.waiting).toHaveLength(1);
  });
});

describe("a slow server", () => {
  test("is waited for if no other server has the resource", async ({ expect }) => {
    const late: Part = { slug: "a", has: { resources: ["x:1"] }, lateMs: 400 };
    const scene = routeScene([late, { slug: "b" }]);
    expect(short(await scene.route(read, { uri: "x:1" }))).toEqual(["a", "x:1"]);
    const other = routeScene([late, { slug: "b" }]);
    expect(await other.ownerOf("x:1")).toBe("a");
    expect(other.asked).toEqual(["a", "b"]);
  });
});

describe("a resource with which a tool shows its results", () => {
  test.for([
    { ui: { resourceUri: "ui://show" } },
    { "ui/resourceUri": "ui://show" },
    { "openai/outputTemplate": "ui://show" },
  ])("belongs to the tool's server: %j", async (_meta, { expect }) => {
    const scene = routeScene([{ slug: "a" }, { slug: "b" }]);
    const tool = { name: "t", _meta };
    const catalog = catalogOf({});
    const tools = [{ name: "t", text: JSON.stringify(tool) }];
    scene.said.set("b", { ...catalog, version: "2", lists: { ...catalog.lists, tools } });
    expect(short(await scene.route(read, { uri: "ui://show" }))).toEqual(["b", "ui://show"]);
    expect(await scene.ownerOf("ui://show")).toBe("b");
  });

  test("has no owner if the tool is forbidden", async ({ expect }) => {
    const scene = routeScene([{ slug: "a" }, { slug: "b", tools: policy(undefined, ["t"]) }]);
    const catalog = catalogOf({});
    const tool = { name: "t", _meta: { ui: { resourceUri: "ui://show" } } };
    const tools = [{ name: "t", text: JSON.stringify(tool) }];
    scene.said.set("b", { ...catalog, version: "2", lists: { ...catalog.lists, tools } });
    expect(await scene.ownerOf("ui://show")).toBe(undefined);
  });

  test.for([
    '{"_meta":{"ui":{"resourceUri":1}}}',
    '{"_meta":{"ui":"resourceUri"}}',
    '{"_meta":"resourceUri"}',
    '{"resourceUri":1}',
  ])("does not exist if the tool points at none: %s", async (text, { expect }) => {
    const scene = routeScene([{ slug: "a" }, { slug: "b" }]);
    const catalog = catalogOf({});
    const lists = { ...catalog.lists, tools: [{ name: "t", text }] };
    scene.said.set("b", { ...catalog, version: "2", lists });
    expect(await scene.ownerOf("resourceUri")).toBe(undefined);
  });
});

describe("a resource that no server lists", () => {
  const only = { tools: {} };
  const parts: readonly [Part, ...Part[]] = [
    ofTools("a"),
    { slug: "b", capabilities: { resources: {} } },
    { slug: "c", has: "none" },
    { slug: "d", has: { resources: ["x:9"] }, capabilities: only },
    { slug: "e", has: { templates: ["y:{z}"] }, capabilities: only },
  ];

  test("may belong to any server that has resources or is not known", async ({ expect }) => {
    const scene = routeScene(parts);
    expect(short(await scene.route(read, { uri: "x:1" }))).toEqual(["b", "c", "d", "e"]);
    expect(short(await scene.route(read, { uri: "x:1" }, MODERN))).toEqual(["b", "c", "d", "e"]);
  });

  test("can only be read", async ({ expect }) => {
    const scene = routeScene(parts);
    expect(await scene.ownerOf("x:1")).toBe(undefined);
    for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
      expect(await scene.route(method, { uri: "x:1" })).toEqual({
        kind: "reply",
        reply: { error: { code: -32002, message: "Resource not found", data: { uri: "x:1" } } },
      });
    }
  });

  test("is not found if no server has resources, with the code of each era", async ({ expect }) => {
    const scene = routeScene([ofTools("a"), ofTools("b")]);
    for (const [client, code] of [
      [undefined, -32002],
      [MODERN, -32602],
    ] as const) {
      expect(await scene.route(read, { uri: "x:1" }, client)).toEqual({
        kind: "reply",
        reply: { error: { code, message: "Resource not found", data: { uri: "x:1" } } },
      });
    }
  });

  test("can be subscribed to once it is listed", async ({ expect }) => {
    const scene = routeScene([{ slug: "a" }, { slug: "b" }]);
    expect(await scene.ownerOf("x:1")).toBe(undefined);
    scene.said.set("b", catalogOf({ resources: ["x:1"] }));
    expect(await scene.ownerOf("x:1")).toBe("b");
  });

  test.for([undefined, 1, ["x:1"], {}])("%j is no URI", async (uri, { expect }) => {
    const scene = routeScene([{ slug: "a" }, { slug: "b" }]);
    expect(await scene.route(read, { uri })).toEqual({
      kind: "reply",
      reply: { error: { code: -32602, message: "params.uri must be a string" } },
    });
  });
});

describe("the only server of an endpoint", () => {
  test("gets every request, and no list is requested", async ({ expect }) => {
    const scene = routeScene([{ slug: "a", has: "never" }]);
    for (const method of [read, "resources/subscribe", "resources/unsubscribe"]) {
      for (const params of [{ uri: "x:1" }, { uri: 1 }, {}]) {
        expect(await scene.route(method, params)).toEqual({
          kind: "server",
          server: scene.place.endpoint.servers[0],
          call: { method, params },
        });
      }
    }
    expect(await scene.ownerOf("x:1")).toBe("a");
    expect(scene.asked).toEqual([]);
  });
});

describe("of the templates that fit", () => {
  test("the first in the operator's order owns the URI, and one that fits everything owns the rest", async ({
    expect,
  }) => {
    const scene = routeScene([
      { slug: "a", has: { templates: ["{+uri}", "x:{+any}"] } },
      { slug: "b", has: { resources: ["q:1"], templates: ["x:mine/{+rest}", "y:{n}"] } },
      { slug: "c", has: { templates: ["y:{+more}", "{+uri}"] } },
    ]);
    expect(await scene.ownerOf("x:mine/1")).toBe("a");
    expect(await scene.ownerOf("y:1")).toBe("b");
    expect(await scene.ownerOf("y:1/2")).toBe("c");
    expect(await scene.ownerOf("q:1")).toBe("b");
    expect(await scene.ownerOf("x:1")).toBe("a");
    expect(await scene.ownerOf("z:1")).toBe("a");
  });
});

test("the first thousand templates of a server count, and no very long one", async ({ expect }) => {
  const templates = Array.from({ length: 1001 }, (_, n) => `x:${n}/{a}`);
  const scene = routeScene([{ slug: "a" }, { slug: "b", has: { templates } }]);
  expect(await scene.ownerOf("x:999/1")).toBe("b");
  expect(await scene.ownerOf("x:1000/1")).toBe(undefined);
  const items = templates.map((name) => ({ name, text: "{}" }));
  expect(templateFlaws("b", items)).toEqual([expect.stringContaining('"b" has 1 resource templ')]);
  expect(templateFlaws("b", items.slice(1))).toEqual([]);
  const long = "x".repeat(2050);
  const other = routeScene([{ slug: "a" }, { slug: "b", has: { templates: [`${long}{a}`] } }]);
  expect(await other.ownerOf(`${long}1`)).toBe(undefined);
});

describe("templates that are written to cost time", () => {
  test(
    "are matched within a limit, and cost other servers nothing",
    { timeout: 30_000 },
    async ({ expect }) => {
      const costly = `x:${"{+a}a".repeat(8)}b`;
      const templates = Array.from({ length: 2000 }, (_, n) => costly + String(n));
      const scene = routeScene([
        { slug: "a", has: { templates } },
        { slug: "b", has: { templates: ["x:{+any}"] } },
      ]);
      const uri = `x:${"a".repeat(20_000)}`;
      expect(await scene.ownerOf(uri)).toBe("b");
    },
  );

  test(
    "cost a request with many URIs no more than one with few",
    { timeout: 30_000 },
    async ({ expect }) => {
      const templates = Array.from({ length: 20_000 }, (_, n) => `{+a}${"a{+b}".repeat(7)}${n}`);
      const scene = routeScene([
        { slug: "a", has: { templates } },
        { slug: "b", has: { templates: ["x:{+any}"] } },
      ]);
      const uris = Array.from({ length: 1000 }, (_, n) => `x:${"a".repeat(200)}/${n}z`);
      await ownersOf(scene.place, MODERN, uris.slice(0, 1)); // reads the lists
      const before = performance.now();
      const owned = await ownersOf(scene.place, MODERN, uris);
      expect(performance.now() - before).toBeLessThan(2000);
      expect([...new Set(owned.values())].map(({ slug }) => slug)).toEqual(["b"]);
    },
  );
});
