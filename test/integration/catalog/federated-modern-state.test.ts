/** 2026-07-28: a server's questions and its state, on their way through a client and back. */

import { beforeAll, describe, test } from "vitest";

import type { Json, Reaction, Script } from "../../support/scripted-upstream-script.ts";
import { modern } from "../client.ts";
import { type Message, responseIn } from "../event-reader.ts";
import { takeSeveral } from "../several-servers.ts";
import { jsonOf, type Upstream } from "../upstream.ts";

const STATE = ' {"b":1,"a":"é\\u0000\\ud83d\\ude00=="}+/ \n';
const QUESTION = {
  method: "elicitation/create",
  params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } },
};
const ANSWERS = { q: { action: "accept", content: {} } };

const asks = (state?: unknown): Reaction =>
  jsonOf({
    result: {
      resultType: "input_required",
      inputRequests: { q: QUESTION },
      ...(state === undefined ? {} : { requestState: state }),
    },
  });

/** A server that asks each time, and is content with any answer that brings this. */
function script(reaction: Reaction): Script {
  const lasting: Reaction = { ...reaction, isLasting: true };
  const prompts: Reaction = { ...jsonOf({ result: { prompts: [] } }), isLasting: true };
  return {
    server: "modern",
    tools: [{ name: "work", inputSchema: { type: "object" } }],
    reactions: { "tools/call": [lasting], "prompts/get": [lasting], "prompts/list": [prompts] },
  };
}

let first: Upstream;
let second: Upstream;

beforeAll(async () => {
  const taken = await takeSeveral([
    { script: script(asks(STATE)) },
    { script: script(asks(STATE)) },
  ]);
  [first, second] = taken as [Upstream, Upstream];
});

const PLACES = ["merged", "alone"] as const;
type Place = (typeof PLACES)[number];

interface Asking {
  readonly place?: Place;
  readonly upstream?: Upstream;
  readonly method?: string;
}

/** A request of a server's, where several meet or where it is alone. */
async function ask(
  params: Json = {},
  { place = "merged", upstream = first, method = "tools/call" }: Asking = {},
): Promise<Message> {
  const isMerged = place === "merged";
  const name = isMerged ? `${upstream.slug}__work` : "work";
  const at = isMerged ? { mcp: "/mcp" } : upstream;
  return responseIn(await modern(at, method, { name, arguments: {}, ...params }));
}

async function stateOf(asking?: Asking): Promise<string> {
  return String((await ask({}, asking)).result?.["requestState"]);
}

async function sentCount(): Promise<number> {
  const methods = ["tools/call", "prompts/get"];
  const sent = [first, second].flatMap((server) => methods.map((method) => server.sent(method)));
  return (await Promise.all(sent)).flat().length;
}

describe.for(PLACES)("%s, the state of a server", (place) => {
  test("is nothing that a client could read, and comes back as it was", async ({ expect }) => {
    const requestState = await stateOf({ place });
    expect(requestState).not.toContain("ud83d");
    expect(requestState).not.toBe(await stateOf({ place }));
    await ask({ requestState, inputResponses: ANSWERS }, { place });
    const record = (await first.sent("tools/call")).at(-1);
    expect(record?.body?.params).toMatchObject({
      requestState: STATE,
      inputResponses: ANSWERS,
      name: "work",
    });
  });

  test("may come back alone", async ({ expect }) => {
    await ask({ requestState: await stateOf({ place }) }, { place });
    const { params } = (await first.sent("tools/call")).at(-1)?.body ?? {};
    expect(params?.["requestState"]).toBe(STATE);
    expect(params).not.toHaveProperty("inputResponses");
  });

  test("stays absent when there is none", async ({ expect }) => {
    await first.script(script(asks()));
    const { result } = await ask({}, { place });
    expect(result?.["resultType"]).toBe("input_required");
    expect(result).not.toHaveProperty("requestState");
    await ask({ inputResponses: ANSWERS }, { place });
    const { params } = (await first.sent("tools/call")).at(-1)?.body ?? {};
    expect(params).toMatchObject({ inputResponses: ANSWERS });
    expect(params).not.toHaveProperty("requestState");
    await first.script(script(asks(STATE)));
  });

  test("may be empty", async ({ expect }) => {
    await first.script(script(asks("")));
    await ask({ requestState: await stateOf({ place }) }, { place });
    const { params } = (await first.sent("tools/call")).at(-1)?.body ?? {};
    expect(params?.["requestState"]).toBe("");
    await first.script(script(asks(STATE)));
  });

  const FORGERIES: readonly { name: string; forge: () => Promise<unknown> }[] = [
    { name: "tampered with", forge: async () => `${await stateOf({ place })}-TAMPERED` },
    { name: "cut", forge: async () => (await stateOf({ place })).slice(0, -1) },
    { name: "the server's own", forge: () => Promise.resolve(STATE) },
    { name: "empty", forge: () => Promise.resolve("") },
    { name: "no text", forge: () => Promise.resolve({ a: 1 }) },
    { name: "null", forge: () => Promise.resolve(null) },
    { name: "of another server", forge: () => stateOf({ place, upstream: second }) },
    { name: "of another method", forge: () => stateOf({ place, method: "prompts/get" }) },
    {
      name: "of another endpoint",
      forge: () => stateOf({ place: place === "merged" ? "alone" : "merged" }),
    },
  ];
  test.for(FORGERIES)(
    "B89: that is $name is refused, and no server hears",
    async ({ forge }, { expect }) => {
      const requestState = await forge();
      const before = await sentCount();
      const { error } = await ask({ requestState, inputResponses: ANSWERS }, { place });
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringContaining("requestState") as string,
      });
      expect(await sentCount()).toBe(before);
    },
  );
});

function messageOf({ result }: Message): string {
  return (result as { inputRequests: { q: typeof QUESTION } }).inputRequests.q.params.message;
}

describe("the question of a server", () => {
  test("says whose it is where several could ask", async ({ expect }) => {
    expect(messageOf(await ask({}, { upstream: second }))).toContain(second.slug);
    expect(messageOf(await ask({}, { upstream: second }))).toContain("Sure?");
  });

  test("is as it is where only one could", async ({ expect }) => {
    const { result } = await ask({}, { place: "alone" });
    expect(result?.["inputRequests"]).toEqual({ q: QUESTION });
  });
});
