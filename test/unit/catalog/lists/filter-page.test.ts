/** A page of the one server of an endpoint, as clients see it. */

import { describe, test } from "vitest";

import { filterPage, listServer } from "../../../../src/catalog/lists/list-server.ts";
import type { RequestScope } from "../../../../src/catalog/request-scope.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { policy, routeScene } from "../routing/route-fixture.ts";

const TOOLS = {
  tools: [{ name: "open", title: "O" }, { name: "shut" }, { title: "nameless" }, "x"],
  nextCursor: "c",
  ttlMs: 5,
};

function placeOf(options: Parameters<typeof routeScene>[0][0], keepsNames = false) {
  return routeScene([options], { keepsNames }).place;
}

describe("filterPage()", () => {
  test("leaves a page unchanged without a policy", ({ expect }) => {
    expect(filterPage(placeOf({ slug: "a" }), "tools", TOOLS)).toEqual(TOOLS);
  });

  test("removes forbidden items, and items that cannot be judged", ({ expect }) => {
    const place = placeOf({ slug: "a", tools: policy(undefined, ["shut"]) }, true);
    expect(filterPage(place, "tools", TOOLS)).toEqual({
      ...{ tools: [{ name: "open", title: "O" }], nextCursor: "c", ttlMs: 5 },
    });
  });

  test("sets the operator's names, except at the server's own endpoint", ({ expect }) => {
    const tools = { ...policy(["open", "shut"]), rename: new Map([["open", "start"]]) };
    const named = filterPage(placeOf({ slug: "a", tools }), "tools", TOOLS);
    expect(named["tools"]).toEqual([{ name: "start", title: "O" }, { name: "shut" }]);
    const own = filterPage(placeOf({ slug: "a", tools }, true), "tools", TOOLS);
    expect(own["tools"]).toEqual([{ name: "open", title: "O" }, { name: "shut" }]);
  });

  test("judges resources by their URIs and templates by their text", ({ expect }) => {
    const place = placeOf({ slug: "a", resources: policy(["x:*"], ["x:s*"]) });
    const resources = [{ uri: "x:1" }, { uri: "x:s" }, { uri: "y:1" }, { name: "x:1" }];
    expect(filterPage(place, "resources", { resources })).toEqual({ resources: [{ uri: "x:1" }] });
    const resourceTemplates = [{ uriTemplate: "x:{a}" }, { uriTemplate: "x:s{a}" }];
    expect(filterPage(place, "templates", { resourceTemplates })).toEqual({
      resourceTemplates: [{ uriTemplate: "x:{a}" }],
    });
    expect(filterPage(place, "prompts", { prompts: [{ name: "p" }] })).toEqual({
      prompts: [{ name: "p" }],
    });
  });

  test.for([{}, { tools: null }, { tools: {} }])(
    "leaves a result without a list unchanged: %j",
    (page, { expect }) => {
      expect(filterPage(placeOf({ slug: "a", tools: policy([]) }), "tools", page)).toEqual(page);
    },
  );
});

describe("for administrators, a page of the only server", () => {
  const notices = [{ name: "b", slug: "b", state: "stdio", sentences: ["A program."] }] as const;
  const note = { server: "b", state: "stdio", message: "A program." };

  async function page(isAdmin: boolean, result: JsonObject): Promise<unknown> {
    const { place } = routeScene([{ slug: "a" }]);
    const scope = { ...place, isAdmin, endpoint: { ...place.endpoint, notices } };
    const reply = await listServer(
      scope as unknown as RequestScope,
      "tools",
      { method: "tools/list" },
      () => Promise.resolve({ result }),
    );
    return "result" in reply && reply.result;
  }

  test("names what is not served, beside the server's own notes", async ({ expect }) => {
    const own = { tools: [], _meta: { own: 1 }, cacheScope: "public" };
    expect(await page(true, own)).toEqual({
      ...{ tools: [], cacheScope: "private" },
      _meta: { own: 1, "edgeway/servers": [note] },
    });
    expect(await page(true, { tools: [] })).toEqual({
      ...{ tools: [], _meta: { "edgeway/servers": [note] } },
    });
  });

  test("and for nobody else", async ({ expect }) => {
    const own = { tools: [], cacheScope: "public" };
    expect(await page(false, own)).toEqual(own);
  });
});
