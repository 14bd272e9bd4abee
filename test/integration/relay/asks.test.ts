/**
 * Questions of a legacy server to its client: out on the stream where they belong, and the answer
 * back to the asker with its id and type.
 */

import { describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { asking, CAPABILITIES } from "../asking.ts";
import { Session } from "../client.ts";
import { EventReader, responseIn } from "../event-reader.ts";
import { ANSWER, event, RESULT, streamOf, Upstream } from "../upstream.ts";

const QUESTIONS: readonly { method: string; params?: Json; result: Json }[] = [
  {
    method: "elicitation/create",
    params: {
      message: "How many?",
      requestedSchema: { type: "object", properties: { n: { type: "integer" } } },
    },
    result: { action: "accept", content: { n: 3 } },
  },
  {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: "Hi" } }], maxTokens: 5 },
    result: { role: "assistant", model: "m", content: { type: "text", text: "Ho" } },
  },
  { method: "roots/list", result: { roots: [{ uri: "file:///a" }] } },
];

async function finish(upstream: Upstream, call: EventReader): Promise<unknown> {
  await upstream.open("go-on");
  return call.message();
}

describe("a question in mid-call", () => {
  test.for(QUESTIONS)(
    "$method goes out on the call's stream, and the answer back to the asker",
    async ({ method, params, result }, { expect }) => {
      const upstream = await asking({
        id: 77,
        method,
        ...(params === undefined ? {} : { params }),
      });
      const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
      const standing = await session.listen();
      const call = new EventReader(await session.callTool("work", {}, "mine"));
      const ask = await call.message();
      expect(ask).toMatchObject({ jsonrpc: "2.0", method });
      expect(ask.params).toEqual(params);
      expect(ask.id).not.toBe(77);
      await session.answer(ask.id, { result });
      expect(await upstream.receivesAnswer(77)).toEqual({ jsonrpc: "2.0", id: 77, result });
      expect(await finish(upstream, call)).toMatchObject({ id: "mine", result: RESULT });
      await standing.silence();
      await standing.cancel();
    },
  );

  test.for([0, "0", "", "ask", -5])(
    "keeps the asker's id %j and its type",
    async (id, { expect }) => {
      const upstream = await asking({ id, method: "roots/list" });
      const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
      const call = new EventReader(await session.callTool());
      const ask = await call.message();
      await session.answer(ask.id, { result: { roots: [] } });
      expect((await upstream.receivesAnswer(id))["id"]).toBe(id);
      await finish(upstream, call);
    },
  );

  test("may be answered with an error, which passes unchanged", async ({ expect }) => {
    const upstream = await asking({ id: 1, method: "sampling/createMessage", params: {} });
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool());
    const error = { code: -1, message: "User rejected", data: [1] };
    await session.answer((await call.message()).id, { error });
    expect(await upstream.receivesAnswer(1)).toEqual({ jsonrpc: "2.0", id: 1, error });
    await finish(upstream, call);
  });

  test("is answered once: a second answer, and one to an unknown id, are dropped", async ({
    expect,
  }) => {
    const upstream = await asking({ id: 1, method: "roots/list" });
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool());
    const ask = await call.message();
    await session.answer("nobody-asked", { result: { roots: ["wrong"] } });
    await session.answer(1, { result: { roots: ["wrong"] } });
    await session.answer(ask.id, { result: { roots: [] } });
    await session.answer(ask.id, { result: { roots: ["late"] } });
    await upstream.receivesAnswer(1);
    await finish(upstream, call);
    const answers = (await upstream.log()).filter(
      ({ method, body }) => method === "POST" && body?.method === undefined,
    );
    expect(answers.map(({ body }) => body)).toEqual([
      { jsonrpc: "2.0", id: 1, result: { roots: [] } },
    ]);
  });

  test("is paired with its own answer among several", async ({ expect }) => {
    const upstream = await asking(
      { id: "a", method: "roots/list" },
      { id: "b", method: "roots/list" },
      { id: "c", method: "roots/list" },
    );
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool());
    const asks = [await call.message(), await call.message(), await call.message()];
    expect(new Set(asks.map(({ id }) => id)).size).toBe(3);
    for (const index of [2, 0, 1]) await session.answer(asks[index]?.id, { result: { n: index } });
    for (const [index, id] of ["a", "b", "c"].entries()) {
      expect(await upstream.receivesAnswer(id)).toMatchObject({ result: { n: index } });
    }
    await finish(upstream, call);
  });

  test("of one session cannot be answered by another", async ({ expect }) => {
    const upstream = await asking({ id: 1, method: "roots/list" });
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const stranger = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool());
    const ask = await call.message();
    await stranger.answer(ask.id, { result: { roots: ["stolen"] } });
    await session.answer(ask.id, { result: { roots: [] } });
    expect(await upstream.receivesAnswer(1)).toMatchObject({ result: { roots: [] } });
    await finish(upstream, call);
  });

  test("that the server withdraws is cancelled at the client, and no answer is sent", async ({
    expect,
  }) => {
    const upstream = await asking(
      { id: 9, method: "elicitation/create", params: {} },
      { method: "notifications/cancelled", params: { requestId: 9, reason: "never mind" } },
    );
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool());
    const ask = await call.message();
    expect(await call.message()).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: ask.id },
    });
    await session.answer(ask.id, { result: { action: "accept" } });
    await finish(upstream, call);
    expect((await upstream.log()).filter(({ body }) => body?.id === 9)).toEqual([]);
  });

  test("that is open when the call is answered is cancelled at the client", async ({ expect }) => {
    const upstream = await asking({ id: 9, method: "elicitation/create", params: {} });
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool("work", {}, "mine"));
    const ask = await call.message();
    await upstream.open("go-on");
    const last = [await call.message(), await call.message()];
    expect(last).toMatchObject([
      { method: "notifications/cancelled", params: { requestId: ask.id } },
      { id: "mine", result: RESULT },
    ]);
  });

  test("that the client never answers ends in an error for the server", async ({ expect }) => {
    const upstream = await asking({ id: 9, method: "elicitation/create", params: {} });
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool());
    const ask = await call.message();
    expect(await upstream.receivesAnswer(9)).toMatchObject({ id: 9, error: { code: -32603 } });
    expect(await call.message()).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: ask.id },
    });
    await finish(upstream, call);
  });

  test("stops the clock of the call", async ({ expect }) => {
    const upstream = await Upstream.take(
      {
        server: "legacy",
        reactions: {
          "tools/call": [
            streamOf(event({ id: 9, method: "roots/list" }), { gate: "go-on" }, event(ANSWER)),
          ],
        },
      },
      "hasty",
    );
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool());
    const ask = await call.message();
    // Two keep-alives are more than the second that the upstream has without a question.
    await call.silence();
    await call.silence();
    await session.answer(ask.id, { result: { roots: [] } });
    await upstream.receivesAnswer(9);
    expect(await finish(upstream, call)).toHaveProperty("result");
  });
});

describe("a question outside of any call", () => {
  test("goes out on the GET stream, and its answer reaches the server", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const standing = await session.listen();
    await upstream.send({ id: 0, method: "roots/list" });
    const ask = await standing.message();
    expect(ask.method).toBe("roots/list");
    await session.answer(ask.id, { result: { roots: [] } });
    expect(await upstream.receivesAnswer(0)).toEqual({
      jsonrpc: "2.0",
      id: 0,
      result: { roots: [] },
    });
    await standing.cancel();
  });
});

describe("ping", () => {
  test.for([0, "p"])(
    "of the server with id %j is answered by the gateway alone",
    async (id, { expect }) => {
      const upstream = await asking({ id, method: "ping" });
      const session = await Session.open(upstream.mcp);
      const call = new EventReader(await session.callTool("work", {}, "mine"));
      expect(await upstream.receivesAnswer(id)).toEqual({ jsonrpc: "2.0", id, result: {} });
      expect(await finish(upstream, call)).toMatchObject({ id: "mine" });
    },
  );

  test("of the client is answered by the gateway alone", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    expect(await responseIn(await session.request("ping", {}, 0))).toEqual({
      jsonrpc: "2.0",
      id: 0,
      result: {},
    });
    expect(await upstream.sent("ping")).toHaveLength(0);
  });
});
