/** The questions of a call, and its client's answers: each question is answered once. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import {
  accept,
  DONE,
  form,
  GATHER_MS,
  parkCall,
  pass,
  ROOTS,
  SAMPLE,
  startCall,
  Visitor,
} from "./bridged-call-world.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const SAMPLED = { role: "assistant", model: "m", content: { type: "text", text: "pong" } };

describe("questions", () => {
  test("that come at once are put together, under keys of the call's own", async ({ expect }) => {
    const { asked, journal } = await parkCall([form(), SAMPLE, ROOTS]);
    const questions = { r1: form(), r2: SAMPLE, r3: { ...ROOTS, params: {} } };
    expect(asked).toEqual({ kind: "asked", round: 1, questions });
    expect(journal.parked).toEqual([
      {
        ...{ round: 1, questions, resumeToken: "t3", asked: 3 },
        questionTokens: { r1: "t1", r2: "t2", r3: "t3" },
      },
    ]);
  });

  test("are waited for no longer than it takes the first one to be old", async ({ expect }) => {
    const { server, turn } = startCall();
    server.ask(form("first"));
    await pass(GATHER_MS - 1);
    server.ask(form("second"));
    await pass(1);
    expect(Object.keys(((await turn) as { questions: object }).questions)).toEqual(["r1", "r2"]);
  });

  test("are answered one by one, and the call goes on", async ({ expect }) => {
    const { call, server } = await parkCall([form(), SAMPLE, ROOTS]);
    const roots = { roots: [{ uri: "file:///a" }] };
    const responses = { r3: roots, r1: accept({ ok: true }), r2: SAMPLED };
    const turn = call.answer(1, responses, new Visitor());
    await pass(0);
    expect(server.questions.map(({ replies }) => replies)).toEqual([
      [{ result: accept({ ok: true }) }],
      [{ result: SAMPLED }],
      [{ result: roots }],
    ]);
    server.end();
    expect(await turn).toEqual({ kind: "over", reply: DONE });
  });

  test("that the client left out are asked again, and the others are not", async ({ expect }) => {
    const { call, server } = await parkCall([form("a"), form("b")]);
    const turn = call.answer(1, { r2: accept() }, new Visitor());
    await pass();
    expect(await turn).toEqual({ kind: "asked", round: 2, questions: { r1: form("a") } });
    expect(server.questions.map(({ replies }) => replies.length)).toEqual([0, 1]);
  });

  test("without any answer are asked again as they were, and no round is used up", async ({
    expect,
  }) => {
    const { call, asked } = await parkCall([form()]);
    for (const responses of [{}, { r9: accept() }, { constructor: 1 }] as JsonObject[]) {
      expect(await call.answer(1, responses, new Visitor())).toEqual(asked);
    }
    expect(call.isParked).toBe(true);
  });

  test("that come while the client decides are asked when it comes back", async ({ expect }) => {
    const { call, server } = await parkCall([form("a")]);
    server.ask(form("b"));
    await pass();
    const turn = call.answer(1, { r1: accept(), r2: accept() }, new Visitor());
    await pass();
    // It was never asked `r2`, so that was no answer.
    expect(await turn).toEqual({ kind: "asked", round: 2, questions: { r2: form("b") } });
  });

  test("that came meanwhile are asked with the others of a client that brings no answer", async ({
    expect,
  }) => {
    const { call, server } = await parkCall([form("a")]);
    server.ask(form("b"));
    const turn = call.answer(1, {}, new Visitor());
    await pass();
    expect(await turn).toEqual({
      ...{ kind: "asked", round: 2 },
      questions: { r1: form("a"), r2: form("b") },
    });
  });

  test("are not overtaken by a notice, after which a client would resume the call", async ({
    expect,
  }) => {
    const { call, server } = await parkCall([form("a")]);
    const visitor = new Visitor();
    const turn = call.answer(1, { r1: accept() }, visitor);
    await pass(0);
    await server.peer.notify({ method: "notifications/x" }, "before");
    server.ask(form("b"));
    await server.peer.notify({ method: "notifications/y" }, "after");
    expect(visitor.notices).toHaveLength(1);
    await pass();
    expect(await turn).toMatchObject({ kind: "asked", questions: { r2: form("b") } });
    expect(visitor.notices.map(({ method }) => method)).toEqual([
      "notifications/x",
      "notifications/y",
    ]);
    expect(visitor.resumeTokens).toEqual(["before"]);
  });

  test.for(["withdrawn", "over"])("hold no notice back for good: %s", async (end, { expect }) => {
    const visitor = new Visitor();
    const { server, turn } = startCall(visitor);
    const question = server.ask(form());
    await server.peer.notify({ method: "notifications/x" }, "after");
    if (end === "withdrawn") {
      question.withdraw();
      await pass();
      expect(visitor.resumeTokens).toEqual(["after"]);
    }
    server.end();
    await turn;
    expect(visitor.notices).toHaveLength(1);
  });

  test("that are still waiting when the call is over are not put to the client", async ({
    expect,
  }) => {
    const { server, turn, journal } = startCall();
    server.ask(form());
    server.end();
    expect(await turn).toEqual({ kind: "over", reply: DONE });
    expect(vi.getTimerCount()).toBe(0);
    await pass();
    expect(journal.parked).toEqual([]);
  });

  test("that are withdrawn before they were put to the client never are", async ({ expect }) => {
    const { server, turn, journal } = startCall();
    server.ask(form()).withdraw();
    await pass();
    server.end();
    expect(await turn).toEqual({ kind: "over", reply: DONE });
    expect(journal.parked).toEqual([]);
  });

  test("that are withdrawn meanwhile need no answer, and get none", async ({ expect }) => {
    const { call, server } = await parkCall([form()]);
    server.questions[0]?.withdraw();
    await pass(0);
    const turn = call.answer(1, { r1: accept() }, new Visitor());
    server.end();
    expect(await turn).toEqual({ kind: "over", reply: DONE });
    expect(server.questions[0]?.replies).toMatchObject([{ error: { code: -32603 } }]);
  });
});

describe("an invalid answer is refused by the name of its key, and no answer is taken", () => {
  const BAD: readonly {
    readonly name: string;
    readonly call: typeof ROOTS;
    readonly bad: unknown;
  }[] = [
    { name: "null", call: form(), bad: null },
    { name: "text", call: form(), bad: "accept" },
    { name: "a list", call: form(), bad: [] },
    { name: "no action", call: form(), bad: { content: {} } },
    { name: "an unknown action", call: form(), bad: { action: "maybe" } },
    { name: "content that is text", call: form(), bad: { action: "accept", content: "x" } },
    { name: "content that is deep", call: form(), bad: accept({ a: { b: 1 } }) },
    { name: "a list of numbers", call: form(), bad: accept({ a: [1] }) },
    { name: "a sample without a model", call: SAMPLE, bad: { ...SAMPLED, model: undefined } },
    { name: "a sample of nobody", call: SAMPLE, bad: { ...SAMPLED, role: "system" } },
    { name: "a sample of nothing", call: SAMPLE, bad: { ...SAMPLED, content: null } },
    { name: "a sample of text", call: SAMPLE, bad: { ...SAMPLED, content: "x" } },
    { name: "roots that are no list", call: ROOTS, bad: { roots: {} } },
    { name: "a root without a URI", call: ROOTS, bad: { roots: [{}] } },
  ];

  test.for(BAD)("$name", async ({ call: question, bad }, { expect }) => {
    const { call, server } = await parkCall([form("other"), question]);
    const responses = { r1: accept(), r2: bad };
    const turn = await call.answer(1, responses, new Visitor());
    expect(turn).toMatchObject({ kind: "refused" });
    expect(turn).toHaveProperty("sentence", expect.stringContaining("inputResponses.r2"));
    await pass();
    expect(server.questions.flatMap(({ replies }) => replies)).toEqual([]);
    expect(call.isParked).toBe(true);
  });

  const GOOD = [
    { name: "declined", call: form(), good: { action: "decline" } },
    { name: "dismissed", call: form(), good: { action: "cancel" } },
    { name: "filled in", call: form(), good: accept({ a: "x", b: 1, c: true, d: ["y"] }) },
    { name: "sampled in parts", call: SAMPLE, good: { ...SAMPLED, content: [SAMPLED.content] } },
    { name: "no roots", call: ROOTS, good: { roots: [] } },
  ];
  test.for(GOOD)(
    "but not an answer that is $name",
    async ({ call: question, good }, { expect }) => {
      const { call, server } = await parkCall([question]);
      void call.answer(1, { r1: good }, new Visitor());
      await pass(0);
      expect(server.questions[0]?.replies).toEqual([{ result: good }]);
    },
  );
});

test("answers that are taken are written down, once, and no others are", async ({ expect }) => {
  const { call, server, journal } = await parkCall([form(), form(), form()]);
  const bad = await call.answer(1, { r1: accept(), r2: 7 }, new Visitor());
  expect(bad.kind).toBe("refused");
  expect(journal.given).toEqual([]);
  void call.answer(1, { r1: accept({ n: 1 }), r3: accept(), r9: accept() }, new Visitor());
  void call.answer(1, { r2: accept() }, new Visitor());
  expect(journal.given).toEqual([{ r1: accept({ n: 1 }), r3: accept() }]);
  await pass(0);
  expect(server.questions.map(({ replies }) => replies.length)).toEqual([1, 0, 1]);
});

describe("a client that repeats itself", () => {
  test("gets the same reply, also before that is known, and the server gets one answer", async ({
    expect,
  }) => {
    const { call, server } = await parkCall([form()]);
    const visitors = [new Visitor(), new Visitor()];
    const turns = visitors.map((visitor) => call.answer(1, { r1: accept() }, visitor));
    await server.peer.notify({ method: "notifications/x" });
    // The client that came last is certainly there.
    expect(visitors.map(({ notices }) => notices.length)).toEqual([0, 1]);
    server.ask(form("b"));
    await pass();
    const again = await call.answer(1, { r1: { action: "decline" } }, new Visitor());
    expect(await Promise.all(turns)).toEqual([again, again]);
    expect(again).toEqual({ kind: "asked", round: 2, questions: { r2: form("b") } });
    expect(server.questions[0]?.replies).toEqual([{ result: accept() }]);
  });

  test("about an older round gets the reply that the round led to", async ({ expect }) => {
    const { call, server } = await parkCall([form("a")]);
    const seen = [];
    for (let round = 1; round <= 5; round++) {
      const turn = call.answer(round, { [`r${round}`]: accept() }, new Visitor());
      server.ask(form(`after ${round}`));
      await pass();
      seen.push(await turn);
    }
    for (let round = 5; round >= 1; round--) {
      expect(await call.answer(round, { r1: accept() }, new Visitor())).toEqual(seen[round - 1]);
    }
    expect(server.questions.map(({ replies }) => replies.length)).toEqual([1, 1, 1, 1, 1, 0]);
  });

  test("and then hangs up once leaves the other request waiting", async ({ expect }) => {
    const { call, server } = await parkCall([form()]);
    const [first, second] = [new Visitor(), new Visitor()];
    const turns = [first, second].map((visitor) => call.answer(1, { r1: accept() }, visitor));
    call.leave(second);
    await server.peer.notify({ method: "notifications/x" });
    expect(first.notices).toHaveLength(1);
    call.leave(second);
    server.end();
    expect(await Promise.all(turns)).toEqual([
      { kind: "over", reply: DONE },
      { kind: "over", reply: DONE },
    ]);
    expect(server.cancelled).toBeUndefined();
  });

  test("about a round that never was is refused", async ({ expect }) => {
    const { call } = await parkCall([form()]);
    for (const round of [2, 99, -1, 1.5]) {
      expect(await call.answer(round, {}, new Visitor())).toMatchObject({ kind: "refused" });
    }
  });
});
