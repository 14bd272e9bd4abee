/** Merged lists of servers of both eras: every item in the client's revision, and none lost. */

import { describe, test } from "vitest";

import type { Item } from "../../../../src/catalog/catalog.ts";
import { clientKind } from "../../../../src/endpoint/client-kind.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import type { Revision } from "../../../../src/protocol/revisions.ts";
import { catalogOf, things } from "../../notifications/source/fake-feeds.ts";
import { allPages, mergedWorld, namesIn, pageOf, type Part, thingsIn } from "./merged-world.ts";

const LIST_OUTPUT = { type: "array", items: { type: "string" } };
const OPEN_OUTPUT = { title: "Anything" };
const annotated = (type: string): JsonObject => ({
  type: "object",
  properties: { a: { type, "x-mcp-header": "A" } },
});
const PLAIN = { type: "object", properties: { a: { type: "object" } } };
const wrapped = (schema: JsonObject): JsonObject => ({
  ...{ type: "object", properties: { result: schema }, required: ["result"] },
});

/** Where it matters who says it: tasks, header annotations, and outputs that are no objects. */
const TOOLS: readonly JsonObject[] = [
  { name: "tasks", execution: { taskSupport: "optional" }, inputSchema: { type: "object" } },
  { name: "annotated", inputSchema: annotated("string") },
  { name: "open", inputSchema: { type: "object" }, outputSchema: OPEN_OUTPUT },
];
const OLD: readonly JsonObject[] = [...TOOLS, { name: "bad", inputSchema: annotated("object") }];
const NEW: readonly JsonObject[] = [
  ...TOOLS,
  { name: "list", inputSchema: { type: "object" }, outputSchema: LIST_OUTPUT },
];

const asItems = (tools: readonly JsonObject[]): Item[] =>
  tools.map((tool) => ({ name: String(tool["name"]), text: JSON.stringify(tool) }));

function part(era: "legacy" | "modern", tools: readonly JsonObject[], name: string): Part {
  const lists = {
    tools: asItems(tools),
    prompts: things("name", ["greet"]),
    resources: things("uri", [`${name}:1`], { name }),
    templates: things("uriTemplate", [`${name}:{id}`], { name }),
  };
  return { catalog: catalogOf({ era, lists }) };
}

const PARTS = { old: part("legacy", OLD, "old"), new: part("modern", NEW, "new") };
const OTHERS = {
  prompts: ["old__greet", "new__greet"],
  resources: ["old:1", "new:1"],
  templates: ["old:{id}", "new:{id}"],
} as const;

/** What a legacy client is told, whichever of them it is. */
const TO_LEGACY = [
  { name: "old__tasks", inputSchema: { type: "object" } },
  { name: "old__annotated", inputSchema: annotated("string") },
  {
    name: "old__open",
    inputSchema: { type: "object" },
    outputSchema: { ...OPEN_OUTPUT, type: "object" },
  },
  { name: "old__bad", inputSchema: annotated("object") },
  { name: "new__tasks", inputSchema: { type: "object" } },
  { name: "new__annotated", inputSchema: annotated("string") },
  { name: "new__open", inputSchema: { type: "object" }, outputSchema: wrapped(OPEN_OUTPUT) },
  { name: "new__list", inputSchema: { type: "object" }, outputSchema: wrapped(LIST_OUTPUT) },
];

const TOLD: readonly { readonly revision: Revision; readonly tools: readonly JsonObject[] }[] = [
  { revision: "2024-11-05", tools: TO_LEGACY },
  { revision: "2025-06-18", tools: TO_LEGACY },
  { revision: "2025-11-25", tools: TO_LEGACY },
  {
    revision: "2026-07-28",
    tools: [
      { name: "old__tasks", inputSchema: { type: "object" } },
      { name: "old__annotated", inputSchema: annotated("string") },
      { name: "old__open", inputSchema: { type: "object" }, outputSchema: OPEN_OUTPUT },
      { name: "old__bad", inputSchema: PLAIN },
      ...NEW.map((tool) => ({ ...tool, name: `new__${String(tool["name"])}` })),
    ],
  },
];

/** Every thing says in `_meta` whose it is, to clients of every revision. */
function attributed(tool: JsonObject): JsonObject {
  const [slug] = String(tool["name"]).split("__");
  return { ...tool, _meta: { "edgeway/server": slug } };
}

describe.for(TOLD)("to a client of $revision", ({ revision, tools }) => {
  const client = clientKind(revision, {});

  test("tools of both eras are translated to the client's revision", async ({ expect }) => {
    const page = await pageOf(mergedWorld(PARTS), { client });
    expect(thingsIn(page)).toEqual(tools.map(attributed));
    expect(page).not.toHaveProperty("_meta");
  });

  test("pages of tools are translated as well", async ({ expect }) => {
    const pages = await allPages(mergedWorld(PARTS, { listPageItems: 1 }), { client });
    expect(pages.map((page) => thingsIn(page))).toEqual(tools.map((tool) => [attributed(tool)]));
  });

  test.for(["prompts", "resources", "templates"] as const)(
    "the %s of both are told",
    async (list, { expect }) => {
      const page = await pageOf(mergedWorld(PARTS), { client, list });
      expect(namesIn(page, list)).toEqual(OTHERS[list]);
    },
  );
});
