/** Features of the matrix: what a client asks for, and what it is given. */

import { expect } from "vitest";

import { TASK_TOOLS } from "../fixture-server/tasks/task-tools.ts";
import type { Client, Json } from "../support/clients-face.ts";
import { isLegacy } from "../support/revisions.ts";
import { until } from "../support/until.ts";
import { type Cell, contentOf, either, type Feature } from "./matrix.ts";
import { outcomeOf, textOf } from "./outcome.ts";

const LISTS = [
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
] as const;

async function listed(client: Client): Promise<readonly string[]> {
  const names: string[] = [];
  for (const [method, member] of LISTS) {
    const items = (await client.request(method))[member] as { name: string }[];
    names.push(...items.map(({ name }) => `${member}: ${name}`));
  }
  return names;
}

/** What the fixture has in its newer era alone. */
const MODERN_TOOLS: ReadonlySet<string> = new Set(
  ["greet", ...TASK_TOOLS.keys()].map((name) => `tools: ${name}`),
);

const STRUCTURED = "2025-06-18";
const WEATHER = { city: "Reykjavik", temperature: -1.5, tags: ["wind", "snow"] };
const LIST = ["wind", "snow"];
const NO_SUCH = "test://no-such-resource";

/** The answer as the client's SDK takes it, after it has seen the tool's schema. */
async function outputOf(client: Client, name: string, cell: Cell): Promise<Json> {
  const tool = (await client.listTools()).find((listed) => listed["name"] === name);
  const { type: schema } = (tool?.["outputSchema"] ?? {}) as Json;
  const result = await client.callTool(name);
  const text = JSON.parse(textOf(result)) as unknown;
  const structured = result["structuredContent"];
  if (cell.client >= STRUCTURED) return { text, structured, schema };
  // It does not know these members; those that arrive must not have a wrong type.
  const isObject = typeof (structured ?? {}) === "object" && !Array.isArray(structured);
  return { text, isBearable: isObject && (schema ?? "object") === "object" };
}

function bearable(text: unknown): (cell: Cell) => Json {
  return ({ client }) =>
    client >= STRUCTURED
      ? { text, structured: undefined, schema: undefined }
      : { text, isBearable: true };
}

/** Values that are no objects are wrapped for every legacy client, by its server or on the way. */
function listFor({ client, server }: Cell): Json {
  return isLegacy(client) || isLegacy(server)
    ? { text: LIST, structured: { result: LIST }, schema: "object" }
    : { text: LIST, structured: LIST, schema: "array" };
}

export const RESULTS: readonly Feature[] = [
  {
    name: "lists",
    run: async (client, connectDirect, { server }) => {
      let names: readonly string[] = [];
      // A list does not wait for a server that is still being started: it names what it has, and is announced again.
      const hasAll = async (): Promise<boolean> => (names = await listed(client)).length > 30;
      await until(hasAll, "the whole list");
      const all = await listed(await connectDirect());
      const known = all.filter((name) => !isLegacy(server) || !MODERN_TOOLS.has(name));
      return names.join() === known.join();
    },
    outcome: () => true,
  },
  {
    name: "calls",
    run: async (client) => [
      textOf(await client.callTool("test_simple_text")),
      contentOf(await client.callTool("test_multiple_content_types")).map(({ type }) => type),
      (await client.callTool("test_error_handling"))["isError"],
    ],
    outcome: () => [
      "This is a simple text response for testing.",
      ["text", "image", "resource"],
      true,
    ],
  },
  {
    name: "errors",
    run: (client) => outcomeOf(client.callTool("no_such_tool")),
    outcome: () => ({
      message: expect.stringContaining("no_such_tool") as unknown,
      code: -32_602,
      data: undefined,
    }),
  },
  {
    name: "sound in results",
    instead: "it comes as an embedded resource, or as text",
    applies: ({ server }) => server >= "2025-03-26",
    run: async (client) =>
      contentOf(await client.callTool("test_audio_content")).map(({ type }) => type),
    ...either("2025-03-26", {
      works: () => ["audio"],
      fails: () => [expect.toBeOneOf(["resource", "text"])],
    }),
  },
  {
    name: "links to resources in results",
    instead: "the URI comes as text",
    applies: ({ server }) => server >= "2025-06-18",
    run: async (client) => contentOf(await client.callTool("test_resource_link")),
    ...either("2025-06-18", {
      works: () => [expect.objectContaining({ type: "resource_link", uri: "test://static-text" })],
      fails: () => [
        expect.objectContaining({
          type: "text",
          text: expect.stringContaining("test://static-text") as unknown,
        }),
      ],
    }),
  },
  {
    name: "structured output",
    instead: "the text of the result says the same",
    run: (client, _, cell) => outputOf(client, "test_structured", cell),
    ...either(STRUCTURED, {
      works: () => ({ text: WEATHER, structured: WEATHER, schema: "object" }),
      fails: bearable(WEATHER),
    }),
  },
  {
    name: "structured output that is no object",
    instead: "the text of the result says the same",
    run: (client, _, cell) => outputOf(client, "test_structured_list", cell),
    ...either(STRUCTURED, {
      works: listFor,
      fails: bearable(LIST),
    }),
  },
  {
    name: "resources",
    run: async (client) => {
      const outcomes: unknown[] = [];
      for (const uri of [
        "test://static-text",
        "test://static-binary",
        "test://template/123/data",
      ]) {
        const { contents } = await client.request("resources/read", { uri });
        const [{ text, mimeType }] = contents as [Json];
        outcomes.push(text ?? mimeType);
      }
      return outcomes;
    },
    outcome: () => [
      "This is the content of the static text resource.",
      "image/png",
      '{"id":"123","data":"Data for 123"}',
    ],
  },
  {
    name: "resource not found",
    run: async (client) => {
      const { message } = await outcomeOf(client.request("resources/read", { uri: NO_SUCH }));
      // The SDKs know more than one code for it, so it is looked at on the wire.
      const { code, data } = (client.replies.at(-1)?.["error"] ?? {}) as Json;
      return { message, code, data };
    },
    outcome: ({ client }) => ({
      message: expect.stringContaining(NO_SUCH) as unknown,
      code: isLegacy(client) ? -32_002 : -32_602,
      data: { uri: NO_SUCH },
    }),
  },
  {
    name: "prompts",
    run: async (client) => {
      const params = {
        name: "test_prompt_with_arguments",
        arguments: { arg1: "a", arg2: "b" },
      };
      const { messages } = await client.request("prompts/get", params);
      return messages;
    },
    outcome: () => [
      {
        role: "user",
        content: { type: "text", text: "Prompt with arguments: arg1='a', arg2='b'" },
      },
    ],
  },
  {
    name: "completion",
    run: async (client) => {
      const prompt = { type: "ref/prompt", name: "test_prompt_with_arguments" };
      const template = { type: "ref/resource", uri: "test://template/{id}/data" };
      const outcomes: unknown[] = [];
      for (const [ref, name, value] of [
        [prompt, "arg1", "par"],
        [template, "id", "12"],
      ] as const) {
        const params = { ref, argument: { name, value } };
        const { completion } = await client.request("completion/complete", params);
        outcomes.push((completion as Json)["values"]);
      }
      return outcomes;
    },
    outcome: () => [
      ["paris", "park", "party"],
      ["123", "124"],
    ],
  },
];
