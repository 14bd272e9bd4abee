/** A page as the one server of an endpoint gave it, and what of it is shown. */

import { describe, test } from "vitest";

import { filterPage } from "../../../../src/catalog/lists/list-server.ts";
import { policy, routeScene } from "../routing/route-fixture.ts";

const TOOLS = {
  tools: [{ name: "open", title: "O" }, { name: "shut" }, { title: "nameless" }, "x"],
  nextCursor: "c",
  ttlMs: 5,
};

function placeOf(options: Parameters<typeof routeScene>[0][0], keepsNames = false) {
  return routeScene([options], { keepsNames }).place;
}

describe("a page", () => {
  test("is shown as it came where nothing is said of it", ({ expect }) => {
    expect(filterPage(placeOf({ slug: "a" }), "tools", TOOLS)).toEqual(TOOLS);
  });

  test("is shown without what is forbidden, and what cannot be judged", ({ expect }) => {
    const place = placeOf({ slug: "a", tools: policy(undefined, ["shut"]) }, true);
    expect(filterPage(place, "tools", TOOLS)).toEqual({
      ...{ tools: [{ name: "open", title: "O" }], nextCursor: "c", ttlMs: 5 },
    });
  });

  test("has the operator's names, but not at the server's own endpoint", ({ expect }) => {
    const tools = { ...policy(["open", "shut"]), rename: new Map([["open", "start"]]) };
    const named = filterPage(placeOf({ slug: "a", tools }), "tools", TOOLS);
    expect(named["tools"]).toEqual([{ name: "start", title: "O" }, { name: "shut" }]);
    const own = filterPage(placeOf({ slug: "a", tools }, true), "tools", TOOLS);
    expect(own["tools"]).toEqual([{ name: "open", title: "O" }, { name: "shut" }]);
  });

  test("of resources is judged by URIs, and one of templates by their text", ({ expect }) => {
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

  test.for([{}, { tools: null }, { tools: {} }])("without a list stays: %j", (page, { expect }) => {
    expect(filterPage(placeOf({ slug: "a", tools: policy([]) }), "tools", page)).toEqual(page);
  });
});
