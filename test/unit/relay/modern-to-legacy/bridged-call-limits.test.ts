/** Questions that a call must not get, and servers that do not stop by themselves. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import {
  accept,
  ALL,
  DONE,
  form,
  MAX_QUESTION_BYTES,
  parkCall,
  pass,
  ROOTS,
  SAMPLE,
  startCall,
  Visitor,
} from "./bridged-call-world.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a question that a request does not declare", () => {
  const CASES = [
    { call: form(), capabilities: {}, code: -32601 },
    { call: form(), capabilities: { elicitation: { url: {} } }, code: -32602 },
    {
      call: { method: "elicitation/create", params: { mode: "url", url: "https://a.test" } },
      capabilities: { elicitation: {} },
      code: -32602,
    },
    { call: SAMPLE, capabilities: { elicitation: {} }, code: -32601 },
    {
      call: { ...SAMPLE, params: { ...SAMPLE.params, tools: [] } },
      capabilities: { sampling: {} },
      code: -32601,
    },
    { call: ROOTS, capabilities: { sampling: {} }, code: -32601 },
    { call: { method: "tasks/list" }, capabilities: ALL, code: -32601 },
  ];

  test.for(CASES)("is never asked: %j", async ({ call, capabilities, code }, { expect }) => {
    const { server, turn } = startCall(new Visitor({ capabilities }));
    server.ask(call);
    await pass();
    expect(server.questions[0]?.replies).toMatchObject([{ error: { code } }]);
    server.end();
    expect(await turn).toEqual({ kind: "over", reply: DONE });
  });

  test("is refused alone: the other questions are asked", async ({ expect }) => {
    const { asked, server } = await parkCall(
      [SAMPLE, form()],
      new Visitor({ capabilities: { elicitation: {} } }),
    );
    expect(asked.questions).toEqual({ r2: form() });
    expect(server.questions[0]?.replies).toHaveLength(1);
  });

  test("any more is not asked again", async ({ expect }) => {
    const { call, server } = await parkCall([form(), ROOTS]);
    const less = new Visitor({ capabilities: { elicitation: {} } });
    const turn = call.answer(1, { r1: accept() }, less);
    await pass();
    expect(server.questions[1]?.replies).toMatchObject([{ error: { code: -32601 } }]);
    server.end();
    expect(await turn).toEqual({ kind: "over", reply: DONE });
  });
});

test("a question that cannot be asked any more is refused, though no other question was answered", async ({
  expect,
}) => {
  const { call, server, asked } = await parkCall([form(), ROOTS]);
  const less = new Visitor({ capabilities: { roots: {} } });
  const turn = call.answer(1, {}, less);
  await pass();
  expect(server.questions.map(({ replies }) => replies)).toMatchObject([
    [{ error: { code: -32601 } }],
    [],
  ]);
  expect(await turn).toEqual({ kind: "asked", round: 2, questions: { r2: asked.questions["r2"] } });
});

describe("a server that does not stop asking", () => {
  test("may ask 100 questions at once, and is stopped at the next", async ({ expect }) => {
    const { call, server, asked } = await parkCall(Array.from({ length: 100 }, () => form()));
    expect(Object.keys(asked.questions)).toHaveLength(100);
    server.ask(form());
    await pass(0);
    expect(server.cancelled).toBeDefined();
    expect(server.questions.every(({ replies }) => replies.length === 1)).toBe(true);
    const turn = await call.answer(1, {}, new Visitor());
    expect(turn).toMatchObject({
      kind: "over",
      reply: { error: { message: expect.stringMatching(/"fake" asked more than 100 /) as string } },
    });
  });

  test("is stopped when it asks on and on, also questions that cannot be asked", async ({
    expect,
  }) => {
    const { server, turn } = startCall(new Visitor({ capabilities: {} }));
    for (let n = 0; n < 101; n++) {
      server.ask(form());
      await pass();
    }
    expect(await turn).toMatchObject({ kind: "over", reply: { error: { code: -32603 } } });
    expect(server.cancelled).toBeDefined();
  });

  test("or a client that answers one at a time, has 100 rounds", async ({ expect }) => {
    const { call, server } = await parkCall(Array.from({ length: 99 }, () => form()));
    let round = 1;
    for (; round < 99; round++) {
      const turn = call.answer(round, { [`r${round}`]: accept() }, new Visitor());
      await pass();
      expect(await turn).toMatchObject({ kind: "asked", round: round + 1 });
    }
    const last = call.answer(round, { r99: accept() }, new Visitor());
    server.end();
    expect(await last).toEqual({ kind: "over", reply: DONE });
  });

  test("and no more, whatever the rounds are made of", async ({ expect }) => {
    const { call, server, journal } = await parkCall([form()]);
    let round = 1;
    for (; round < 100; round++) {
      server.ask(form());
      // Something new is a round of its own, though nothing was answered.
      const turn = call.answer(round, {}, new Visitor());
      await pass();
      expect(await turn).toMatchObject({ kind: "asked", round: round + 1 });
    }
    const last = call.answer(round, { r1: accept() }, new Visitor());
    await pass();
    const message = expect.stringMatching(/"fake" still asked after 100 rounds/) as string;
    expect(await last).toMatchObject({ kind: "over", reply: { error: { code: -32603, message } } });
    expect(journal.parked).toHaveLength(100);
    await pass(1);
    expect(server.cancelled).toBeDefined();
    expect(server.questions.every(({ replies }) => replies.length === 1)).toBe(true);
  });
});

describe("a server that asks long questions", () => {
  const long = form("x".repeat(MAX_QUESTION_BYTES / 4));

  test("is stopped, and the client gets an error", async ({ expect }) => {
    const { server, turn } = startCall();
    for (let n = 0; n < 4; n++) server.ask(long);
    await pass();
    const message = expect.stringMatching(/"fake" asked more than 65536 bytes /) as string;
    expect(await turn).toMatchObject({ kind: "over", reply: { error: { code: -32603, message } } });
    await pass(1);
    expect(server.cancelled).toBeDefined();
    expect(server.questions.map(({ replies }) => replies.length)).toEqual([1, 1, 1, 1]);
  });

  test("is stopped also if it is answered, or takes its questions back", async ({ expect }) => {
    const { call, server } = await parkCall([long, long, long]);
    server.questions[2]?.withdraw();
    const turn = call.answer(1, { r1: accept(), r2: accept() }, new Visitor());
    server.ask(long);
    expect(await turn).toMatchObject({ kind: "over", reply: { error: { code: -32603 } } });
  });

  test("may ask as much as there is room for", async ({ expect }) => {
    const { asked } = await parkCall([long, long, long]);
    expect(Object.keys(asked.questions)).toHaveLength(3);
  });
});

test("a call that may not be parked is ended, and both sides get an error", async ({ expect }) => {
  const { server, journal, turn } = startCall();
  journal.refusal = "has enough";
  const question = server.ask(form());
  await pass();
  expect(await turn).toEqual({
    kind: "over",
    reply: {
      error: { code: -32603, message: 'Upstream "fake" has enough', data: { upstream: "fake" } },
    },
  });
  expect(question.replies).toHaveLength(1);
  await pass(1);
  expect(server.cancelled).toBeDefined();
});

test("a call that cannot be stored is ended too, and the error does not reveal why", async ({
  expect,
}) => {
  const { server, journal, turn } = startCall();
  journal.park = () => {
    throw new Error("SECRET: disk full");
  };
  server.ask(form());
  await pass();
  const text = JSON.stringify(await turn);
  expect(text).toContain("reference");
  expect(text).not.toContain("SECRET");
});
