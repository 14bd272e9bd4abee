/**
 * A server asks its client in mid-call: for a completion, for a form, for a visit to a URL, for
 * its roots. Through the gateway each question arrives whole, and each answer where it belongs.
 */

import { describe, vi } from "vitest";

import { ROOTS } from "../support/clients-answers.ts";
import { type Client, type Json, KINDS } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { outcomeOf, textOf } from "./outcome.ts";
import { expectSame } from "./parity.ts";

const ACTIONS = ["accept", "decline", "cancel"] as const;

/** An answer of the kind that a person gives. */
function answer(action: string, content: Json): Json {
  return action === "accept" ? { action, content } : { action };
}

function noModel(): never {
  throw Object.assign(new Error("There is no model here"), { code: -32_050 });
}

async function askTwice(client: Client): Promise<Json[]> {
  return [
    await outcomeOf(client.callTool("test_sampling", { prompt: "Say hello" })),
    await outcomeOf(client.callTool("test_elicitation", { message: "Who are you?" })),
  ];
}

async function askForAll(client: Client): Promise<Json[]> {
  return [
    await outcomeOf(client.callTool("test_missing_capability")),
    await outcomeOf(client.callTool("test_elicitation", { message: "Who are you?" })),
    await outcomeOf(client.callTool("test_list_roots")),
    await outcomeOf(client.callTool("test_input_required_result_capabilities")),
  ];
}

describe.each(KINDS)("a request of the fixture to the client, %s,", (kind) => {
  const url = endpointFor(kind, "fixture");
  const route = {
    name: kind,
    direct: [kind === "v1-sse" ? "v1-http" : kind, sharedServers().fixture],
    through: [kind, url],
  } as const;

  test("samples the client's model", async ({ expect, connect }) => {
    const client = await connect(kind, url);
    const result = await client.callTool("test_sampling", { prompt: "Say hello" });
    expect(textOf(result)).toBe("LLM response: You said: Say hello");
    expect(client.asked).toMatchObject([
      {
        method: "sampling/createMessage",
        params: {
          messages: [{ role: "user", content: { type: "text", text: "Say hello" } }],
          maxTokens: 100,
        },
      },
    ]);
  });

  test.for(ACTIONS)("elicits with a form: %s", async (action, { expect, connect }) => {
    const content = { username: "ada", email: "ada@example.com" };
    const answers = { elicitation: () => answer(action, content) };
    const client = await connect(kind, url, { answers });
    const result = await client.callTool("test_elicitation", { message: "Who are you?" });
    const told = JSON.stringify(action === "accept" ? content : {});
    expect(textOf(result)).toBe(`User response: action=${action}, content=${told}`);
    expect(client.asked).toMatchObject([
      {
        method: "elicitation/create",
        params: { message: "Who are you?", requestedSchema: { required: ["username", "email"] } },
      },
    ]);
  });

  test.for(ACTIONS)("elicits with a URL: %s", async (action, { expect, connect }) => {
    const client = await connect(kind, url, { answers: { elicitation: () => ({ action }) } });
    const result = await client.callTool("test_url_elicitation");
    expect(textOf(result)).toBe(`URL elicitation completed: action=${action}, content={}`);
    expect(client.asked).toMatchObject([
      {
        method: "elicitation/create",
        params: { mode: "url", url: "https://auth.example.com/authorize?from=fixture" },
      },
    ]);
  });

  test("lists the roots", async ({ expect, connect }) => {
    const client = await connect(kind, url);
    const result = await client.callTool("test_list_roots");
    expect(textOf(result)).toBe(ROOTS.map(({ uri }) => uri).join("\n"));
    expect(client.asked.map(({ method }) => method)).toEqual(["roots/list"]);
  });

  test.for<[string, string]>([
    ["test_input_required_result_elicitation", "Hello, Ada!"],
    [
      "test_input_required_result_sampling",
      "The model says: You said: What is the capital of France?",
    ],
    ["test_input_required_result_list_roots", `Roots: ${ROOTS.map(({ uri }) => uri).join(", ")}`],
    [
      "test_input_required_result_multiple_inputs",
      "You said: Generate a greeting Ada, you have 2 root(s)",
    ],
    ["test_input_required_result_capabilities", "Got what the client can give"],
    ["test_input_required_result_request_state", "state-ok: the state came back unchanged"],
    ["test_input_required_result_tampered_state", "integrity-ok: the state came back unchanged"],
    ["test_input_required_result_multi_round", "Ada likes Ada"],
  ])("is sent in rounds: %s", async ([tool, text], { expect, connect }) => {
    const client = await connect(kind, url);
    expect(textOf(await client.callTool(tool))).toBe(text);
    expect(client.asked).not.toEqual([]);
  });

  test("is sent while it serves a prompt", async ({ expect, connect }) => {
    const client = await connect(kind, url);
    const name = "test_input_required_result_prompt";
    const result = await client.request("prompts/get", { name });
    expect(result).toMatchObject({ messages: [{ content: { text: "Context: Ada" } }] });
  });

  test("may be answered with an error", async ({ expect, connect }) => {
    const answers = { sampling: noModel, elicitation: noModel };
    await expectSame(expect, connect, route, askTwice, { answers });
  });

  test("is not sent when the client lacks the capability", async ({ expect, connect }) => {
    await expectSame(expect, connect, route, askForAll, { capabilities: {} });
  });

  test("may be one of many, which are answered in reverse order", async ({ expect, connect }) => {
    const COUNT = 8;
    const waiting: (() => void)[] = [];
    const client = await connect(kind, url, {
      answers: {
        sampling: async ({ messages }) => {
          const [{ content }] = messages as [{ content: { text: string } }];
          await new Promise<void>((resolve) => waiting.push(resolve));
          return { model: "m", role: "assistant", content: { type: "text", text: content.text } };
        },
      },
    });
    const prompts = Array.from({ length: COUNT }, (_, index) => `question ${index}`);
    const calls = prompts.map((prompt) => client.callTool("test_sampling", { prompt }));
    await vi.waitFor(() => expect(waiting).toHaveLength(COUNT), { timeout: 30_000 });
    // A question that is open holds up nothing else.
    expect(textOf(await client.callTool("test_simple_text"))).toContain("simple text response");
    for (const settle of waiting.toReversed()) settle();
    const texts = (await Promise.all(calls)).map(textOf);
    expect(texts).toEqual(prompts.map((prompt) => `LLM response: ${prompt}`));
    expect(client.errors).toEqual([]);
  });
});
