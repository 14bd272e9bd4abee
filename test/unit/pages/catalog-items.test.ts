/** The search of the catalog, and an item as the catalog shows it. */

import { describe, test } from "vitest";

import { rowOf, search, wordsOf } from "../../../src/pages/catalog-items.ts";
import type { ConsoleItem, ConsoleServer } from "../../../src/pages/console/console.ts";

const item = (name: string, more = {}): ConsoleItem => ({
  name,
  text: JSON.stringify({ name, ...more }),
});

const server: ConsoleServer = {
  ...{ slug: "s", label: "s", info: undefined, instructions: undefined, notes: [], state: "well" },
  lists: {
    tools: [
      item("get_weather", { title: "Wetter", description: 'Für heute \u2028 und "morgen"' }),
      item("send", { inputSchema: { description: "weather" } }),
      item("third", { annotations: { title: "Forecast" } }),
    ],
    prompts: [item("weather_report")],
    resources: [{ name: "a://b", text: JSON.stringify({ uri: "a://b", name: "Weather map" }) }],
    templates: [],
  },
  isOwn: false,
  publicName: () => undefined,
};

const find = (query: string): readonly string[] =>
  search(server, wordsOf(query)).map(({ item: { name } }) => name);

describe("search()", () => {
  test("finds each word in names, titles and descriptions, in any case", ({ expect }) => {
    expect(find("WEATHER")).toEqual(["get_weather", "weather_report", "a://b"]);
    expect(find("wetter heute")).toEqual(["get_weather"]);
    expect(find("für")).toEqual(["get_weather"]);
    expect(find('"morgen"')).toEqual(["get_weather"]);
    expect(find("forecast")).toEqual(["third"]);
    expect(find("wetter gestern")).toEqual([]);
  });

  test("finds nothing by what no person sees of an item", ({ expect }) => {
    expect(find("inputschema")).toEqual([]);
    expect(find("send weather")).toEqual([]);
  });

  test("finds everything without a word", ({ expect }) => {
    expect(find("  ")).toHaveLength(5);
  });
});

describe("rowOf()", () => {
  test("has the title first, and the name beside it", ({ expect }) => {
    const titled = item("a", { title: "A", annotations: { title: "B", readOnlyHint: true } });
    expect(rowOf({ kind: "tools", item: titled })).toMatchObject({
      ...{ name: "a", title: "A", effect: "read", isStated: true },
    });
    const hinted = item("a", { title: " ", annotations: { title: "B" } });
    expect(rowOf({ kind: "tools", item: hinted })).toMatchObject({ title: "B" });
  });

  test("has nothing of a type that it should not be", ({ expect }) => {
    const odd = item("a", {
      title: 1,
      description: {},
      mimeType: [],
      arguments: [null, { name: 2 }],
    });
    expect(rowOf({ kind: "prompts", item: odd })).toEqual({
      ...{ kind: "prompts", name: "a", title: "a", description: undefined, mimeType: undefined },
      ...{ effect: undefined, isStated: false, parameters: [] },
    });
  });
});
