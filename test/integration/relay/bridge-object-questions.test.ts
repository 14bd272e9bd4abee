/** A legacy server that asks a modern client in mid-call: the questions come back as a result. */

import { describe, test } from "vitest";

import type { Reaction } from "../../support/scripted-upstream-script.ts";
import { askedIn, BridgeClient } from "./bridge-client.ts";
import { ANSWER, event, RESULT, streamOf, Upstream } from "../upstream.ts";

const SERVER_INFO = {
  "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.2.3" },
};
const FORM = {
  message: "Sure?",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
};
const ELICIT = { id: "s1", method: "elicitation/create", params: FORM };
const SAMPLE = {
  ...{ id: 7, method: "sampling/createMessage" },
  params: { messages: [{ role: "user", content: { type: "text", text: "ping" } }], maxTokens: 9 },
};
const ROOTS = { id: "s3", method: "roots/list" };
const ACCEPT = { action: "accept", content: { ok: true } };
const SAMPLED = { role: "assistant", model: "m", content: { type: "text", text: "pong" } };

/** A server whose one call does this. */
function calling(...pieces: NonNullable<Reaction["pieces"]>): Promise<Upstream> {
  return Upstream.take({ server: "legacy", reactions: { "tools/call": [streamOf(...pieces)] } });
}

describe("a question", () => {
  const KINDS = [
    { ask: ELICIT, answer: ACCEPT },
    { ask: ELICIT, answer: { action: "decline" } },
    { ask: SAMPLE, answer: SAMPLED },
    { ask: ROOTS, answer: { roots: [{ uri: "file:///a", name: "a" }] } },
  ];
  test.for(KINDS)("$ask.method is put to the client, and answered", async (kind, { expect }) => {
    const { ask, answer } = kind;
    const upstream = await calling(event(ask), { gate: "go-on" }, event(ANSWER));
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const { method } = ask;
    expect(asked.inputRequests).toEqual({
      r1: { method, params: "params" in ask ? ask.params : {} },
    });
    expect(asked).toMatchObject({ resultType: "input_required", _meta: SERVER_INFO });
    const done = client.retry(asked, { r1: answer });
    expect(await upstream.receivesAnswer(ask.id)).toEqual({
      ...{ jsonrpc: "2.0", id: ask.id, result: answer },
    });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject({ ...RESULT, resultType: "complete" });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test.for(["prompts/get", "resources/read"])("may come in %s, too", async (method, { expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { [method]: [streamOf(event(ELICIT), { gate: "go-on" }, event(ANSWER))] },
    });
    const client = new BridgeClient(upstream);
    const params = { uri: "a://b", name: "p" };
    const { requestState } = askedIn(await client.request(method, params));
    const inputResponses = { r1: ACCEPT };
    const done = client.request(method, { ...params, requestState, inputResponses });
    await upstream.receivesAnswer("s1");
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
  });

  test("during a list request is refused, because its result has no room for one", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/list": [streamOf(event(ELICIT), { gate: "go-on" }, event(ANSWER))] },
    });
    const done = new BridgeClient(upstream).request("tools/list");
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ error: { code: -32601 } });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
  });

  test("that the client has not declared is refused, and the call goes on", async ({ expect }) => {
    const upstream = await calling(event(SAMPLE), { gate: "go-on" }, event(ANSWER));
    const done = new BridgeClient(upstream).call({}, { capabilities: { elicitation: {} } });
    expect(await upstream.receivesAnswer(7)).toMatchObject({ error: { code: -32601 } });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
  });

  test("is answered although the connection breaks or the server is busy while the answer is sent", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(event(ELICIT), { gate: "go-on" }, event(ANSWER))],
        response: [{ status: 0 }, { status: 503 }, { status: 429 }],
      },
    });
    const client = new BridgeClient(upstream);
    const done = client.retry(await client.asked(), { r1: ACCEPT });
    const answers = await upstream.receives("POST", 4);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("that the server no longer accepts an answer to is not retried for ever", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(event(ELICIT), { gate: "go-on" }, event(ANSWER))],
        response: [{ status: 404, isLasting: true }],
      },
    });
    const client = new BridgeClient(upstream);
    const done = client.retry(await client.asked(), { r1: ACCEPT });
    await upstream.receives("POST");
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
    expect(await upstream.sent("POST")).toHaveLength(1);
  });

  test("may come with others, and be followed by others", async ({ expect }) => {
    const upstream = await calling(
      ...[event(ELICIT), event(SAMPLE), event(ROOTS)],
      ...[{ gate: "second" }, event({ ...ELICIT, id: "s4" }), { gate: "go-on" }, event(ANSWER)],
    );
    const client = new BridgeClient(upstream);
    const first = await client.asked();
    expect(Object.keys(first.inputRequests)).toEqual(["r1", "r2", "r3"]);
    const roots = { roots: [] };
    const coming = client.retry(first, { r1: ACCEPT, r2: SAMPLED, r3: roots });
    expect(await upstream.receivesAnswer("s3")).toMatchObject({ result: roots });
    await upstream.open("second");
    const second = askedIn(await coming);
    expect(second.inputRequests).toEqual({ r4: { method: ELICIT.method, params: FORM } });
    expect(second.requestState).not.toBe(first.requestState);
    const done = client.retry(second, { r4: { action: "cancel" } });
    expect(await upstream.receivesAnswer("s4")).toMatchObject({ result: { action: "cancel" } });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("outside the stream of its call belongs to the only running call", async ({ expect }) => {
    const upstream = await calling({ gate: "go-on" }, event(ANSWER));
    const client = new BridgeClient(upstream);
    const coming = client.call();
    await upstream.receives("tools/call");
    await upstream.send(ELICIT, "g-1");
    const asked = askedIn(await coming);
    const done = client.retry(asked, { r1: ACCEPT });
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ result: ACCEPT });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
  });

  test("outside any stream is refused when several calls are running, or none", async ({
    expect,
  }) => {
    const reaction = streamOf({ gate: "go-on" }, event(ANSWER));
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [reaction, reaction] },
    });
    const client = new BridgeClient(upstream);
    const coming = [client.call(), client.call()];
    await upstream.receives("tools/call", 2);
    await upstream.send(ELICIT);
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ error: { code: -32600 } });
    await upstream.open("go-on");
    for (const { result } of await Promise.all(coming)) expect(result).toMatchObject(RESULT);
    await upstream.send({ ...ELICIT, id: "s2" });
    expect(await upstream.receivesAnswer("s2")).toMatchObject({ error: { code: -32600 } });
    await upstream.send({ id: "p", method: "ping" });
    expect(await upstream.receivesAnswer("p")).toMatchObject({ result: {} });
  });

  test("that the server has withdrawn takes no answer of the client", async ({ expect }) => {
    const withdrawal = { method: "notifications/cancelled", params: { requestId: "s1" } };
    const upstream = await calling(
      ...[event(ELICIT), { gate: "withdraw" }, event(withdrawal), { gate: "go-on" }, event(ANSWER)],
    );
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await upstream.open("withdraw");
    await upstream.open("go-on");
    const { result } = await client.retry(asked, { r1: ACCEPT });
    expect(result).toMatchObject(RESULT);
    expect(await upstream.sent("POST")).toEqual([]);
  });
});
