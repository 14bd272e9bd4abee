/** The fixture server, by way of the gateway and directly, in both of its eras. */

import { describe } from "vitest";

import type { Json } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { outcomeOf } from "./outcome.ts";
import { expectSame, type Route } from "./parity.ts";

const ROUTES: readonly Route[] = (
  [
    ["SDK 2, legacy era", "v2-legacy", "v2-legacy"],
    ["SDK 2, modern era", "v2-modern", "v2-modern"],
    ["SDK 1, Streamable HTTP", "v1-http", "v1-http"],
    ["SDK 1, HTTP+SSE before Streamable HTTP", "v1-http", "v1-sse"],
  ] as const
).map(([name, direct, through]) => ({
  name,
  direct: [direct, sharedServers().fixture],
  through: [through, endpointFor(through, "fixture")],
}));

const CONTACT = { name: "Ada", contactMethod: "phone", phone: "123", address: { city: "London" } };

/** Arguments for the tools that take some; every other is called without. */
const ARGUMENTS: Readonly<Record<string, readonly Json[]>> = {
  json_schema_2020_12_tool: [CONTACT, { name: "Bob", contactMethod: "phone" }],
  test_x_mcp_header: [
    { region: "eu west", priority: 3, note: "x" },
    { region: "日本", priority: -1 },
    { priority: "high" },
    {},
  ],
  test_elicitation: [{ message: "Who are you?" }, {}],
  test_sampling: [{ prompt: "Say hello" }, { prompt: 5 }],
  test_burst: [{ count: 20, bytes: 10 }],
  test_wait: [{ ms: 5 }, { ms: -1 }],
};

const TEMPLATE = { type: "ref/resource", uri: "test://template/{id}/data" };
const PROMPT = { type: "ref/prompt", name: "test_prompt_with_arguments" };

describe.concurrent.each(ROUTES)("the fixture, $name", (route) => {
  test("introduces itself as it does directly", async ({ expect, connect }) => {
    await expectSame(expect, connect, route, async ({ server }) => server);
  });

  test("lists the same, in the same order", async ({ expect, connect }) => {
    await expectSame(expect, connect, route, async (client) => [
      await client.listTools(),
      await client.request("resources/list"),
      await client.request("resources/templates/list"),
      await client.request("prompts/list"),
    ]);
  });

  test("answers every tool as it does directly, with the same progress and requests", async ({
    expect,
    connect,
  }) => {
    await expectSame(expect, connect, route, async (client) => {
      const outcomes: Json[] = [];
      for (const { name } of await client.listTools()) {
        for (const args of ARGUMENTS[String(name)] ?? [{}]) {
          const call = client.callTool(String(name), args, { onprogress });
          outcomes.push({ name, args, ...(await outcomeOf(call)) });
        }
      }
      return { outcomes, asked: client.asked, progress: client.progress.map(withToken) };
    });
  });

  test("serves every resource, prompt and completion as it does directly", async ({
    expect,
    connect,
  }) => {
    await expectSame(expect, connect, route, async (client) => {
      const outcomes: Json[] = [];
      const ask = async (method: string, params: Json): Promise<void> => {
        outcomes.push({ method, params, ...(await outcomeOf(client.request(method, params))) });
      };
      for (const uri of [
        "test://static-text",
        "test://static-binary",
        "test://watched-resource",
        "test://template/1%202/data",
        "test://no-such-resource",
      ]) {
        await ask("resources/read", { uri });
      }
      for (const params of [
        { name: "test_simple_prompt" },
        { name: "test_prompt_with_arguments", arguments: { arg1: "a", arg2: "b" } },
        { name: "test_prompt_with_arguments", arguments: { arg1: "a" } },
        { name: "test_prompt_with_embedded_resource", arguments: { resourceUri: "test://x" } },
        { name: "test_prompt_with_image" },
        { name: "test_input_required_result_prompt" },
        { name: "no_such_prompt" },
      ]) {
        await ask("prompts/get", params);
      }
      await ask("completion/complete", { ref: PROMPT, argument: { name: "arg1", value: "par" } });
      await ask("completion/complete", { ref: TEMPLATE, argument: { name: "id", value: "12" } });
      await ask("completion/complete", { ref: TEMPLATE, argument: { name: "no", value: "1" } });
      await ask("tools/call", { name: "no_such_tool", arguments: {} });
      return outcomes;
    });
  });
});

/** Asks for progress; what comes is looked at on the wire. */
function onprogress(): void {}

/** Both clients count alike, so even the tokens must be the same. */
function withToken({ progressToken, ...report }: Json): Json {
  return { call: progressToken, ...report };
}
