/** A modern client that comes back with answers, or with what it takes for some. */

import { describe, test } from "vitest";

import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import { type AskedResult, askedIn, BridgeClient } from "./bridge-client.ts";
import { ANSWER, event, methodOf, RESULT, streamOf, Upstream } from "../upstream.ts";

const FORM = {
  message: "Sure?",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
};
const ELICIT = { id: "s1", method: "elicitation/create", params: FORM };
const SAMPLE = {
  ...{ id: 7, method: "sampling/createMessage" },
  params: { messages: [{ role: "user", content: { type: "text", text: "ping" } }], maxTokens: 9 },
};
const ACCEPT = { action: "accept", content: { ok: true } };

/** A server whose one call does this. */
function calling(...pieces: NonNullable<Reaction["pieces"]>): Promise<Upstream> {
  return Upstream.take({ server: "legacy", reactions: { "tools/call": [streamOf(...pieces)] } });
}

const asks = (id: string): Reaction =>
  streamOf(event({ ...ELICIT, id }), { gate: "go-on" }, event(ANSWER));
const asking = (): Promise<Upstream> => calling(event(ELICIT), { gate: "go-on" }, event(ANSWER));

function changed(state: string, change: Json): string {
  const [, mark = "", text = ""] = /^(\w+:)(.*)$/.exec(state) ?? [];
  return mark + JSON.stringify({ ...(JSON.parse(text) as Json), ...change });
}
const withX = (state: string, x: string): string => changed(state, { x });
const withR = (state: string, r: number): string => changed(state, { r });
const withO = (state: string): string => changed(state, { o: "0".repeat(64) });

describe("a retry", () => {
  const FALSE: readonly { name: string; params: (state: string) => Json }[] = [
    { name: "with other arguments", params: () => ({ arguments: { other: 1 } }) },
    { name: "of another tool", params: () => ({ name: "other" }) },
    { name: "whose state is no text", params: () => ({ requestState: { a: 1 } }) },
    { name: "whose state is another server's", params: () => ({ requestState: "abc" }) },
    { name: "whose state names no call", params: (state) => ({ requestState: withX(state, "x") }) },
    { name: "whose state names no round", params: (state) => ({ requestState: withR(state, 2) }) },
    { name: "whose state names no object", params: (state) => ({ requestState: withO(state) }) },
    { name: "with a bad answer", params: () => ({ inputResponses: { r1: { action: "x" } } }) },
    { name: "with answers that are no object", params: () => ({ inputResponses: [ACCEPT] }) },
  ];
  test.for(FALSE)(
    "$name is refused, and nothing is sent to the server",
    async ({ params }, { expect }) => {
      const upstream = await asking();
      const client = new BridgeClient(upstream);
      const asked = await client.asked();
      const { requestState } = asked;
      const before = (await upstream.log()).length;
      const { error } = await client.call({
        ...{ requestState, inputResponses: { r1: ACCEPT } },
        ...params(requestState),
      });
      expect(error).toMatchObject({ code: -32602 });
      expect(error?.message).toMatch(/requestState|inputResponses/);
      expect(await upstream.log()).toHaveLength(before);
      // What was right before still is.
      const done = client.retry(asked, { r1: ACCEPT, r9: ACCEPT });
      await upstream.receivesAnswer("s1");
      await upstream.open("go-on");
      expect((await done).result).toMatchObject(RESULT);
    },
  );

  test("without its state is a new request: it is asked again, and its answers are dropped", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [asks("s1"), asks("s2")] },
    });
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const again = await client.asked({ inputResponses: { r1: ACCEPT } });
    expect(again.requestState).not.toBe(asked.requestState);
    expect((await upstream.sent("tools/call")).at(-1)?.body?.params).not.toHaveProperty(
      "inputResponses",
    );
    const answered = (await upstream.log()).filter(({ body }) => body?.["result"] !== undefined);
    expect(answered).toEqual([]);
    // What was asked before still is, and each gets its own answer.
    const done = [client.retry(asked, { r1: ACCEPT }), client.retry(again, { r1: ACCEPT })];
    await upstream.receivesAnswer("s1");
    await upstream.receivesAnswer("s2");
    await upstream.open("go-on");
    for (const { result } of await Promise.all(done)) expect(result).toMatchObject(RESULT);
  });

  test("of another principal is refused, and nothing is sent to the server", async ({ expect }) => {
    const upstream = await asking();
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const before = (await upstream.log()).length;
    const other = { principal: "somebody else" };
    expect((await client.retry(asked, { r1: ACCEPT }, other)).error).toMatchObject({
      code: -32602,
    });
    expect(await upstream.log()).toHaveLength(before);
  });

  test("of a call at another server is refused, and nothing is sent to either", async ({
    expect,
  }) => {
    const [upstream, other] = [await asking(), await asking()];
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const { requestState } = asked;
    const before = (await upstream.log()).length;
    const { error } = await new BridgeClient(other).call({
      ...{ requestState, inputResponses: { r1: ACCEPT } },
    });
    expect(error).toMatchObject({ code: -32602 });
    expect(await upstream.log()).toHaveLength(before);
  });

  test("finds its call whatever capabilities its client declares now", async ({ expect }) => {
    const upstream = await calling(
      event(ELICIT),
      { gate: "second" },
      event(SAMPLE),
      { gate: "go-on" },
      event(ANSWER),
    );
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const done = client.retry(asked, { r1: ACCEPT }, { capabilities: { roots: {} } });
    await upstream.receivesAnswer("s1");
    await upstream.open("second");
    // By now it has no sampling any more.
    expect(await upstream.receivesAnswer(7)).toMatchObject({ error: { code: -32601 } });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
  });

  test("that declares fewer capabilities gets no question that needs the others", async ({
    expect,
  }) => {
    const upstream = await asking();
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const less = { capabilities: { roots: {} } };
    // It brings no answer, and there is nobody who could.
    const done = client.retry(asked, {}, less);
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ error: { code: -32601 } });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
  });

  test("of an older round that declares fewer capabilities gets an error that names the missing one", async ({
    expect,
  }) => {
    const upstream = await calling(
      ...[event(ELICIT), { gate: "second" }, event(SAMPLE), { gate: "go-on" }, event(ANSWER)],
    );
    const client = new BridgeClient(upstream);
    const first = await client.asked();
    const coming = client.retry(first, { r1: ACCEPT });
    await upstream.receivesAnswer("s1");
    await upstream.open("second");
    const second = askedIn(await coming);
    const { error } = await client.retry(
      first,
      { r1: ACCEPT },
      { capabilities: { elicitation: {} } },
    );
    expect(error).toMatchObject({
      ...{ code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
    expect(askedIn(await client.retry(first, {}))).toEqual(second);
  });

  test("is sent to pages only if it declares that capability now", async ({ expect }) => {
    const page = { mode: "url", url: "https://a.test/", message: "Go there", elicitationId: "e1" };
    const error = { code: -32042, message: "Visit", data: { elicitations: [page] } };
    const upstream = await calling(
      ...[event(ELICIT), { gate: "go-on" }, event({ id: "{{id}}", error })],
    );
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const form = { capabilities: { elicitation: { form: {} } } };
    const done = client.retry(asked, { r1: ACCEPT }, form);
    await upstream.receivesAnswer("s1");
    await upstream.open("go-on");
    expect((await done).error).toMatchObject({ code: -32603, message: "Visit" });
    // The end of the call is kept as the server gave it.
    expect(askedIn(await client.retry(asked, { r1: ACCEPT })).inputRequests).toMatchObject({
      r1: { params: { url: page.url } },
    });
  });

  test("may have its arguments in another order", async ({ expect }) => {
    const upstream = await asking();
    const client = new BridgeClient(upstream);
    const asked = await client.asked({ arguments: { a: 1, b: { c: [2], d: null } } });
    const { requestState } = asked;
    const args = { b: { d: null, c: [2] }, a: 1 };
    const done = client.call({ requestState, inputResponses: { r1: ACCEPT }, arguments: args });
    await upstream.receivesAnswer("s1");
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
  });

  test("that is sent twice at once, and again later, reaches the server once", async ({
    expect,
  }) => {
    const upstream = await asking();
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const both = [1, 2].map((n) => client.retry(asked, { r1: { ...ACCEPT, content: { n } } }));
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ result: { content: { n: 1 } } });
    await upstream.open("go-on");
    const [first, second] = await Promise.all(both);
    const third = await client.retry(asked, { r1: { action: "decline" } });
    expect(first?.result).toMatchObject(RESULT);
    expect(second?.result).toEqual(first?.result);
    expect(third.result).toEqual(first?.result);
    expect(await upstream.sent("POST")).toHaveLength(1);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });
});

test(
  "1000 calls of one principal are parked, and the next one is ended with a clear error",
  {
    timeout: 600_000,
  },
  async ({ expect }) => {
    const COUNT = 1000;
    const reaction: Reaction = {
      ...streamOf(event({ ...ELICIT, id: "{{id}}" }), { gate: "go-on" }, event(ANSWER)),
      isLasting: true,
    };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [reaction] },
    });
    const client = new BridgeClient(upstream);
    const parked: AskedResult[] = [];
    while (parked.length < COUNT) {
      parked.push(...(await Promise.all(Array.from({ length: 100 }, () => client.asked()))));
    }
    const { error } = await client.call();
    expect(error).toMatchObject({ code: -32603, data: { upstream: upstream.slug } });
    expect(error?.message).toContain(`${COUNT} requests of this client waiting`);
    // The others wait on, and one that is over makes room.
    await upstream.open("go-on");
    const [first] = parked;
    if (first === undefined) throw new Error("Nothing is parked");
    expect((await client.retry(first, { r1: ACCEPT })).result).toMatchObject(RESULT);
    expect(await upstream.sent("notifications/cancelled")).toHaveLength(1);
  },
);

test("200 calls that are parked at once each get their own answer", async ({ expect }) => {
  const COUNT = 200;
  const reaction: Reaction = {
    ...streamOf(
      event({ ...ELICIT, id: "{{id}}" }),
      { gate: "go-on" },
      event({ id: "{{id}}", result: { content: [], structuredContent: { of: "{{id}}" } } }),
    ),
    isLasting: true,
  };
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [reaction] },
  });
  const client = new BridgeClient(upstream);
  const numbers = Array.from({ length: COUNT }, (_, n) => n);
  const asked = await Promise.all(numbers.map((n) => client.asked({ arguments: { n } })));
  await upstream.open("go-on");
  // 7 and 200 have no divisor in common: every one of them, in another order.
  const order = numbers.map((n) => (n * 7 + 3) % COUNT);
  const answered = await Promise.all(
    order.map(async (n) => {
      const { requestState = "" } = asked[n] ?? {};
      const inputResponses = { r1: { action: "accept", content: { n } } };
      return client.call({ requestState, inputResponses, arguments: { n } });
    }),
  );
  const calls = await upstream.sent("tools/call");
  expect(calls).toHaveLength(COUNT);
  const numberOf = new Map(
    calls.map(({ body }) => [body?.id, (body?.params?.["arguments"] as Json | undefined)?.["n"]]),
  );
  // The answer of each call has its id, and is given to whoever answered its question.
  const got = answered.map(
    ({ result }) => (result?.["structuredContent"] as Json | undefined)?.["of"],
  );
  expect(got.map((id) => numberOf.get(id))).toEqual(order);
  const answers = (await upstream.log()).filter((record) => methodOf(record) === "POST");
  for (const { body } of answers) {
    expect(body).toMatchObject({ result: { content: { n: numberOf.get(body?.id) } } });
  }
});
