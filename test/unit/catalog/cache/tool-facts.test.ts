/** The facts about a tool that a call needs: header bindings, and the output schema. */

import { describe, test } from "vitest";

import { factsOf } from "../../../../src/catalog/cache/tool-facts.ts";
import { catalogOf, things, tools } from "../../notifications/source/fake-feeds.ts";

const schema = (annotation: unknown) => ({
  inputSchema: {
    type: "object",
    properties: { q: { type: "string", "x-mcp-header": annotation } },
  },
});

describe("factsOf()", () => {
  test("reads the mirrored arguments of a tool once", ({ expect }) => {
    const catalog = catalogOf({
      lists: { tools: [...things("name", ["a"], schema("Query")), ...tools("b")] },
    });
    const facts = factsOf(catalog, "a");
    expect(facts).toEqual({
      effect: "destructive",
      bindings: [{ header: "mcp-param-query", path: ["q"] }],
    });
    expect(factsOf(catalog, "a")).toBe(facts);
    expect(factsOf(catalog, "b")).toEqual({ effect: "destructive", bindings: [] });
  });

  test("returns nothing for a tool that is not listed or breaks the rules", ({ expect }) => {
    const catalog = catalogOf({ lists: { tools: things("name", ["a"], schema("not a token")) } });
    expect(factsOf(catalog, "a")).toBeUndefined();
    expect(factsOf(catalog, "c")).toBeUndefined();
  });
});
