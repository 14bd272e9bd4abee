/** Features of the matrix: what a server asks its client in mid-call. */

import { expect } from "vitest";

import { ROOTS } from "../support/clients-answers.ts";
import type { Client, Json, Message } from "../support/clients-face.ts";
import { isLegacy } from "../support/revisions.ts";
import { type Cell, either, type Feature } from "./matrix.ts";
import { outcomeOf, textOf } from "./outcome.ts";

interface Told {
  readonly text: string;
  readonly asked: readonly unknown[];
}

/** Calls a tool that asks. @param look takes what matters out of the params of each question. */
async function ask(
  client: Client,
  [name, args = {}]: readonly [name: string, args?: Json],
  look: (params: Json) => unknown = () => undefined,
): Promise<unknown> {
  const outcome = await outcomeOf(client.callTool(name, args));
  const asked = questionsTo(client).map(({ method, params }) => [method, look(params)]);
  return outcome["isError"] === true || outcome["content"] === undefined
    ? { ...outcome, asked }
    : ({ text: textOf(outcome), asked } satisfies Told);
}

/** In this era they come in results, where they can be seen before the SDK has read them. */
function questionsTo({ asked, replies }: Client): readonly Message[] {
  const inResults = replies.flatMap(({ inputRequests }) =>
    Object.values((inputRequests ?? {}) as Record<string, Message>),
  );
  return inResults.length > 0 ? inResults : asked;
}

/** A model reads in the result what is missing; the client gets no request. */
function lacks(capability: RegExp): () => unknown {
  const text = expect.stringMatching(capability) as unknown;
  return () =>
    expect.objectContaining({ isError: true, content: [{ type: "text", text }], asked: [] });
}

/** The first revision of elicitation, and the first that has more than plain forms. */
const FORMS = "2025-06-18";
const MODES = "2025-11-25";
function isErrorThatNames(capability: RegExp): unknown {
  const text = expect.stringMatching(capability) as unknown;
  return expect.objectContaining({ isError: true, content: [{ type: "text", text }] });
}

/** Both know it by a code (2026-07-28, -32021). */
function missing(requiredCapabilities: Json): unknown {
  return expect.objectContaining({ code: -32_021, data: { requiredCapabilities } });
}

const INSTEAD = "the result is an error that names what is missing, and nobody is asked";

/** 2025-06-18 has no modes, and the revisions after it need not name this one. */
const FORM: Told = {
  text: 'User response: action=accept, content={"username":"Ada","email":"Ada"}',
  asked: [
    [
      "elicitation/create",
      { message: "Who are you?", fields: ["username", "email"], hasForeignMode: false },
    ],
  ],
};

/** The id is of 2025-11-25 alone: there it must be, and nowhere else. */
function pageFor({ client }: Cell): Told {
  const page = { mode: "url", url: "https://auth.example.com/authorize?from=fixture" };
  const elicitationId = client === "2025-11-25" ? (expect.any(String) as unknown) : undefined;
  return {
    text: "URL elicitation completed: action=accept, content={}",
    asked: [["elicitation/create", { ...page, elicitationId }]],
  };
}

export const QUESTIONS: readonly Feature[] = [
  {
    name: "sampling",
    run: (client) =>
      ask(client, ["test_sampling", { prompt: "Say hello" }], ({ messages, maxTokens }) => ({
        messages,
        maxTokens,
      })),
    outcome: () => ({
      text: "LLM response: You said: Say hello",
      asked: [
        [
          "sampling/createMessage",
          {
            messages: [{ role: "user", content: { type: "text", text: "Say hello" } }],
            maxTokens: 100,
          },
        ],
      ],
    }),
  },
  {
    name: "roots",
    run: (client) => ask(client, ["test_list_roots"]),
    outcome: () => ({
      text: ROOTS.map(({ uri }) => uri).join("\n"),
      asked: [["roots/list", undefined]],
    }),
  },
  {
    name: "forms (elicitation)",
    instead: INSTEAD,
    run: (client, _, cell) =>
      ask(client, ["test_elicitation", { message: "Who are you?" }], (params) => {
        const { message, mode, requestedSchema } = params;
        const hasForeignMode = mode !== undefined && (cell.client < MODES || mode !== "form");
        return { message, fields: (requestedSchema as Json)["required"], hasForeignMode };
      }),
    ...either(FORMS, { works: () => FORM, fails: lacks(/elicitation/) }),
  },
  {
    name: "forms with several choices",
    instead: INSTEAD,
    // The fixture would ask it of a server that had no word for it.
    applies: ({ server }) => server !== "2025-06-18",
    run: (client) =>
      ask(client, ["test_elicitation_sep1330_enums"], ({ requestedSchema }) => {
        const { properties } = requestedSchema as { properties: Record<string, Json> };
        return Object.values(properties).map(({ type }) => type);
      }),
    ...either(MODES, {
      works: () => ({
        text: `Elicitation completed: action=accept, content=${JSON.stringify({
          ...{ untitledSingle: "option1", titledSingle: "value1", legacyEnum: "opt1" },
          ...{ untitledMulti: [], titledMulti: [] },
        })}`,
        asked: [["elicitation/create", ["string", "string", "string", "array", "array"]]],
      }),
      fails: lacks(/elicitation/),
    }),
  },
  {
    name: "visits to a URL (elicitation)",
    instead: INSTEAD,
    run: (client) =>
      ask(client, ["test_url_elicitation"], ({ mode, url, elicitationId }) => ({
        ...{ mode, url, elicitationId },
      })),
    ...either(MODES, { works: pageFor, fails: lacks(/elicitation/) }),
  },
  {
    name: "several questions at once",
    run: async (client) => {
      const text = textOf(await client.callTool("test_input_required_result_capabilities"));
      return { text, asked: client.asked.map(({ method }) => method).toSorted() };
    },
    outcome: ({ client, server }) => ({
      text: "Got what the client can give",
      asked: [
        ...(client >= FORMS && server >= FORMS ? ["elicitation/create"] : []),
        ...["roots/list", "sampling/createMessage"],
      ],
    }),
  },
  {
    name: "questions in rounds",
    instead: INSTEAD,
    run: (client) =>
      ask(client, ["test_input_required_result_multi_round"], ({ message }) => message),
    ...either(FORMS, {
      works: () => ({
        text: "Ada likes Ada",
        asked: [
          ["elicitation/create", "Step 1: What is your name?"],
          ["elicitation/create", "Step 2: What is your favorite color?"],
        ],
      }),
      fails: lacks(/elicitation/),
    }),
  },
  {
    name: "questions of a prompt",
    instead: "error -32603 that names what is missing, and nobody is asked",
    run: async (client) => {
      const name = "test_input_required_result_prompt";
      const { messages, code, message } = await outcomeOf(client.request("prompts/get", { name }));
      return { messages, code, message, asked: client.asked.length };
    },
    ...either(FORMS, {
      works: () => ({
        messages: [{ role: "user", content: { type: "text", text: "Context: Ada" } }],
        asked: 1,
      }),
      fails: () => ({
        code: -32_603,
        message: expect.stringMatching(/elicitation/) as unknown,
        asked: 0,
      }),
    }),
  },
  {
    name: "errors that name what a client has not declared",
    capabilities: {},
    run: async (client) => {
      const outcomes = [
        await outcomeOf(client.callTool("test_missing_capability")),
        await outcomeOf(client.callTool("test_list_roots")),
      ];
      return { outcomes, asked: client.asked };
    },
    outcome: ({ client, server }) => ({
      outcomes:
        isLegacy(client) || isLegacy(server)
          ? [isErrorThatNames(/sampling/), isErrorThatNames(/roots/)]
          : [missing({ sampling: {} }), missing({ roots: {} })],
      asked: [],
    }),
  },
];
