/**
 * Answers on their way to a legacy server that asks in mid-call: they get lost and are brought again,
 * clients repeat themselves, and each question is answered once all the same.
 */

import { afterAll, beforeAll, describe, type ExpectStatic } from "vitest";

import { type AskingUpstream, startAskingUpstream } from "../support/asking-upstream.ts";
import type { AskingCall } from "../support/asking-call.ts";
import { test } from "../support/clients.ts";
import { type Answers, ModernCaller, type Turn } from "../support/modern-caller.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { until } from "../support/until.ts";

let upstream: AskingUpstream;
let gateway: Server;

beforeAll(async () => {
  upstream = await startAskingUpstream(false);
  gateway = await startGateway({ servers: { asking: { url: upstream.url } } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

type Asked = Extract<Turn, { kind: "asked" }>;

function isAsked(expect: ExpectStatic, turn: Turn): asserts turn is Asked {
  expect(turn).toMatchObject({ kind: "asked" });
}

function answersTo({ questions }: Asked, answer: string): Answers {
  const given = Object.keys(questions).map((key) => [
    key,
    { action: "accept", content: { answer } },
  ]);
  return Object.fromEntries(given) as Answers;
}

function over(text: string): object {
  return { kind: "over", result: { content: [{ type: "text", text }] } };
}

function begin(call: string, script: object): { caller: ModernCaller; known: AskingCall } {
  const caller = new ModernCaller(`${gateway.url}/mcp/asking`, "ask", { call, ...script });
  return { caller, known: upstream.call(call) };
}

test.for([
  ["the answer", ["the answer"]],
  ["its receipt", ["its receipt"]],
  ["both, one after the other", ["the answer", "its receipt"]],
] as const)("a response is delivered again when %s is lost", async ([what, losses], { expect }) => {
  const { caller, known } = begin(`losing ${what}`, { questions: 2 });
  known.losses.push(...losses);
  const first = await caller.begin();
  isAsked(expect, first);
  const second = await caller.answer(first.state, answersTo(first, "one"));
  isAsked(expect, second);
  expect(await caller.answer(second.state, answersTo(second, "two"))).toMatchObject(
    over("one, two"),
  );
  expect(known.answers).toHaveLength(2);
  expect(known.posts).toBe(1);
});

describe("a client that repeats its request", () => {
  test("gets the same outcome twice while its answer is processed", async ({ expect }) => {
    const { caller, known } = begin("twice at once", { questions: 1, stopAfter: 1 });
    const asked = await caller.begin();
    isAsked(expect, asked);
    const both = Promise.all(
      ["yes", "yes"].map((answer) => caller.answer(asked.state, answersTo(asked, answer))),
    );
    await until(() => known.stoppedAfter === 1, "the answer is at the server");
    known.release();
    expect(await both).toMatchObject([over("yes"), over("yes")]);
    expect(known.answers).toHaveLength(1);
    expect(known.posts).toBe(1);
  });

  test("gets the next question again, and not the one before it", async ({ expect }) => {
    const { caller, known } = begin("a round again", { questions: 2 });
    const first = await caller.begin();
    isAsked(expect, first);
    const second = await caller.answer(first.state, answersTo(first, "one"));
    isAsked(expect, second);
    const again = await caller.answer(first.state, answersTo(first, "another"));
    isAsked(expect, again);
    expect(again.questions).toEqual(second.questions);
    expect(await caller.answer(again.state, answersTo(again, "two"))).toMatchObject(
      over("one, two"),
    );
    expect(known.answers).toHaveLength(2);
  });

  test("gets the result again after the end", async ({ expect }) => {
    const { caller, known } = begin("after the end", { questions: 1 });
    const asked = await caller.begin();
    isAsked(expect, asked);
    for (const answer of ["yes", "yes", "no"]) {
      expect(await caller.answer(asked.state, answersTo(asked, answer))).toMatchObject(over("yes"));
    }
    expect(known.answers).toHaveLength(1);
    expect(known.posts).toBe(1);
  });

  test("gets the question again when it sends no answer", async ({ expect }) => {
    const { caller } = begin("no answer", { questions: 1 });
    const asked = await caller.begin();
    isAsked(expect, asked);
    const again = await caller.answer(asked.state, { nobody: { action: "accept" } });
    isAsked(expect, again);
    expect(again.questions).toEqual(asked.questions);
    expect(await caller.answer(again.state, answersTo(again, "yes"))).toMatchObject(over("yes"));
  });
});
