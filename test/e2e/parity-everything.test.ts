/**
 * The reference server of the legacy era, with everything it has, by way of the gateway and
 * directly: nothing may differ. Over both transports on both sides.
 */

import { describe } from "vitest";

import type { Client, Json } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { outcomeOf } from "./outcome.ts";
import { expectSame, type Route } from "./parity.ts";

const ROUTES: readonly Route[] = [
  {
    name: "SDK 1, Streamable HTTP",
    direct: ["v1-http", sharedServers().everything],
    through: ["v1-http", endpointFor("v1-http", "everything")],
  },
  {
    name: "SDK 1, HTTP+SSE before Streamable HTTP",
    direct: ["v1-http", sharedServers().everything],
    through: ["v1-sse", endpointFor("v1-sse", "everything")],
  },
  {
    name: "SDK 1, Streamable HTTP before HTTP+SSE",
    direct: ["v1-sse", sharedServers().everythingSse],
    through: ["v1-http", endpointFor("v1-http", "everything-sse")],
  },
  {
    name: "SDK 1, HTTP+SSE before HTTP+SSE",
    direct: ["v1-sse", sharedServers().everythingSse],
    through: ["v1-sse", endpointFor("v1-sse", "everything-sse")],
  },
  {
    name: "SDK 2, legacy era",
    direct: ["v2-legacy", sharedServers().everything],
    through: ["v2-legacy", endpointFor("v2-legacy", "everything")],
  },
];

/** Sensible arguments for every tool; several calls where one would not show all. */
const CALLS: Readonly<Record<string, readonly Json[]>> = {
  echo: [{ message: "Grüße, 世界 🍵" }, { message: "" }, {}],
  "get-annotated-message": [
    { messageType: "error" },
    { messageType: "success", includeImage: true },
    { messageType: "debug" },
  ],
  "get-env": [{}],
  "get-resource-links": [{ count: 4 }, { count: 99 }],
  "get-resource-reference": [
    { resourceType: "Text", resourceId: 1 },
    { resourceType: "Blob", resourceId: 2 },
    { resourceType: "Blob", resourceId: -1 },
  ],
  "get-structured-content": [{ location: "Chicago" }, { location: "Atlantis" }],
  "get-sum": [
    { a: 19, b: 23 },
    { a: 0.1, b: 0.2 },
    { a: "one", b: 2 },
  ],
  "get-tiny-image": [{}],
  "gzip-file-as-resource": [
    { name: "a.gz", data: "data:text/plain,hello", outputType: "resourceLink" },
    { name: "b.gz", data: "data:text/plain,hello", outputType: "resource" },
    { name: "c.gz", data: "ftp://example.com/" },
  ],
  // On and off again.
  "toggle-simulated-logging": [{}, {}],
  "toggle-subscriber-updates": [{}, {}],
  "trigger-long-running-operation": [{ duration: 0.2, steps: 2 }],
  "trigger-elicitation-request": [{}],
  "trigger-url-elicitation": [
    { url: "https://example.com/", elicitationId: "e-1" },
    { url: "https://example.com/", elicitationId: "e-2", errorPath: true },
  ],
  "trigger-sampling-request": [{ prompt: "Say hello", maxTokens: 10 }],
  "trigger-sampling-request-async": [{ prompt: "Say hello", maxTokens: 10 }],
  "trigger-elicitation-request-async": [{}],
  // Without a task it is refused; with one it is called below.
  "simulate-research-query": [{ topic: "tea" }],
  // Last, for it asks on a stream that has to be there by then.
  "get-roots-list": [{}],
};

/** Only these SDKs let a server ask them as a task. */
const NEEDS_CLIENT_TASKS = ["trigger-sampling-request-async", "trigger-elicitation-request-async"];

const COMPLETIONS: readonly Json[] = [
  completion({ type: "ref/prompt", name: "completable-prompt" }, "department", "S"),
  completion({ type: "ref/prompt", name: "completable-prompt" }, "name", "", {
    department: "Sales",
  }),
  completion({ type: "ref/prompt", name: "resource-prompt" }, "resourceType", "T"),
  completion({ type: "ref/prompt", name: "resource-prompt" }, "resourceId", "7"),
  completion({ type: "ref/prompt", name: "no-such-prompt" }, "x", ""),
  completion(
    { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" },
    "resourceId",
    "5",
  ),
  completion(
    { type: "ref/resource", uri: "demo://resource/dynamic/blob/{resourceId}" },
    "resourceId",
    "x",
  ),
];

function completion(ref: Json, name: string, value: string, filledIn?: Json): Json {
  const context = filledIn === undefined ? {} : { context: { arguments: filledIn } };
  return { ref, argument: { name, value }, ...context };
}

async function namesIn(client: Client, list: string, member: string): Promise<string[]> {
  const { [member]: items } = await client.request(list);
  return (items as { name: string; uri: string }[]).map(({ name, uri }) => uri ?? name);
}

describe.each(ROUTES)("server-everything, $name", (route) => {
  const hasTasks = route.through[0].startsWith("v1");

  test("introduces itself as it does directly", async ({ expect, connect }) => {
    await expectSame(expect, connect, route, async ({ server }) => server);
  });

  test("lists the same, in the same order", async ({ expect, connect }) => {
    await expectSame(expect, connect, route, async (client) => [
      await client.request("tools/list"),
      await client.request("resources/list"),
      await client.request("resources/templates/list"),
      await client.request("prompts/list"),
    ]);
  });

  test("answers every tool as it does directly", async ({ expect, connect }) => {
    await expectSame(expect, connect, route, async (client) => {
      const tools = await namesIn(client, "tools/list", "tools");
      const known = Object.keys(CALLS).filter(
        (name) => hasTasks || !NEEDS_CLIENT_TASKS.includes(name),
      );
      expect(tools.toSorted()).toEqual(known.toSorted());
      const outcomes: Json[] = [];
      for (const name of known) {
        for (const args of CALLS[name] ?? []) {
          const call = client.request("tools/call", { name, arguments: args });
          outcomes.push({ name, args, ...(await outcomeOf(call)) });
        }
      }
      return outcomes;
    });
  });

  test("serves every resource as it does directly", async ({ expect, connect }) => {
    await expectSame(expect, connect, route, async (client) => {
      const uris = [
        ...(await namesIn(client, "resources/list", "resources")),
        "demo://resource/dynamic/text/1",
        "demo://resource/dynamic/blob/2",
        "demo://resource/dynamic/text/none",
        "demo://no/such/resource",
      ];
      const outcomes: Json[] = [];
      for (const uri of uris) {
        outcomes.push({ uri, ...(await outcomeOf(client.request("resources/read", { uri }))) });
      }
      return outcomes;
    });
  });

  test("serves every prompt and completion as it does directly", async ({ expect, connect }) => {
    const prompts: readonly Json[] = [
      { name: "simple-prompt" },
      { name: "args-prompt", arguments: { city: "Kyoto" } },
      { name: "args-prompt", arguments: { city: "Portland", state: "Oregon" } },
      { name: "completable-prompt", arguments: { department: "Sales", name: "Eve" } },
      { name: "resource-prompt", arguments: { resourceType: "Text", resourceId: "1" } },
    ];
    const wrong = [{ name: "args-prompt", arguments: {} }, { name: "no-such-prompt" }];
    await expectSame(expect, connect, route, async (client) => {
      const listed = await namesIn(client, "prompts/list", "prompts");
      expect(new Set(prompts.map(({ name }) => name))).toEqual(new Set(listed));
      const outcomes: Json[] = [];
      for (const params of [...prompts, ...wrong]) {
        outcomes.push(await outcomeOf(client.request("prompts/get", params)));
      }
      for (const params of COMPLETIONS) {
        outcomes.push(await outcomeOf(client.request("completion/complete", params)));
      }
      return outcomes;
    });
  });
});
