/** How a call ends that a modern server runs as a task, and the end of a task that no client waits for. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { JsonObject, Reply } from "../../../../src/protocol/json-rpc.ts";
import { ownError } from "../../../../src/protocol/own-error.ts";
import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";
import { type Answer, failureOf } from "../../upstream/fake-target.ts";
import {
  ACCEPTED,
  behind,
  CALL,
  DONE,
  ELICIT,
  failing,
  hanging,
  never,
  paramsOf,
  type World,
} from "./legacy-to-modern-fixture.ts";
import {
  acknowledging,
  declaresTasks,
  demanding,
  done,
  ended,
  ID,
  inTask,
  making,
  methodsOf,
  passing,
  reporting,
  unreachable,
  wanting,
} from "./legacy-to-modern-task-fixture.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const accepting = (): AskedPeer => new AskedPeer(({ answer }) => answer({ result: ACCEPTED }));
const run = ({ server }: World, peer = accepting()): Promise<Reply> =>
  ended(server.request(CALL, peer, never));

const inWords = (sentence: string): object => ({
  result: { content: [{ type: "text", text: `Upstream "fake" ${sentence}` }], isError: true },
});
const failed = (reason: string, sentence: string): object =>
  ownError(-32_603, `Upstream "fake" ${sentence}`, { upstream: "fake", reason });

/** The last message to the server, about the task that no client waits for. */
const isCancelled = ({ sent }: World): boolean => {
  const last = sent.at(-1);
  const { taskId } = paramsOf(last);
  const isSo = last !== undefined && declaresTasks(last) && taskId === ID;
  return isSo && methodsOf(sent).indexOf("tasks/cancel") === sent.length - 1;
};

describe("a task ends the call", () => {
  const gone = "no longer knows the task of this call; its result is unknown";
  test.for<{ name: string; end: Answer; reply: object }>([
    { name: "with its result", end: done(), reply: { result: DONE } },
    {
      name: "with a tool's failure",
      end: done({ ...DONE, isError: true }),
      reply: { result: { ...DONE, isError: true } },
    },
    {
      name: "with its error",
      end: reporting({ status: "failed", error: { code: -32_050, message: "no", data: 1 } }),
      reply: { error: { code: -32_050, message: "no", data: 1 } },
    },
    {
      name: "with an error that only its era knows",
      end: reporting({
        status: "failed",
        error: {
          ...{ code: -32_021, message: "SECRET" },
          data: { requiredCapabilities: { sampling: { tools: {} } } },
        },
      }),
      reply: inWords("needs sampling with tools, which this client has not declared"),
    },
    {
      name: "when it was cancelled",
      end: reporting({ status: "cancelled" }),
      reply: inWords("cancelled the task that this call was run as"),
    },
    {
      name: "when it is not known",
      end: failing({ code: -32_602, message: "SECRET" }),
      reply: inWords(gone),
    },
    {
      name: "when it is not known, by an HTTP error",
      end: failing({ code: -32_602, message: "SECRET" }, 400),
      reply: inWords(gone),
    },
  ])("$name", async ({ end, reply }, { expect }) => {
    const world = behind(inTask(reporting(), end));
    expect(await run(world)).toEqual(reply);
    // There is nothing to cancel.
    expect(methodsOf(world.sent).slice(2)).toEqual(["tasks/get", "tasks/get"]);
  });
});

describe("a server that does not report the state of its task, but", () => {
  const noTask = "answered tasks/get with something that is no task";
  const noResult = "completed a task without a result of its call";
  const forbidden = "asks for input in a way that its revision forbids";
  test.for<{ name: string; answer: Answer; sentence: string }>([
    { name: "no status", answer: reporting({ status: undefined }), sentence: noTask },
    { name: "an unknown status", answer: reporting({ status: "SECRET" }), sentence: noTask },
    { name: "a round", answer: reporting({ resultType: "input_required" }), sentence: noTask },
    { name: "an end without a result", answer: done(null), sentence: noResult },
    {
      name: "an end that is a round",
      answer: done({ resultType: "input_required", inputRequests: { q: ELICIT } }),
      sentence: noResult,
    },
    {
      name: "an end that is a task",
      answer: done({ resultType: "task", taskId: "other" }),
      sentence: noResult,
    },
    {
      name: "a failure without an error",
      answer: reporting({ status: "failed", error: "SECRET" }),
      sentence: "failed a task without an error",
    },
    { name: "questions in a list", answer: wanting([ELICIT]), sentence: forbidden },
    {
      name: "an error",
      answer: failing({ code: -32_601, message: "SECRET" }, 404),
      sentence: "answered tasks/get with error -32601; the call's result is unknown",
    },
  ])("$name", async ({ answer, sentence }, { expect }) => {
    const world = behind(inTask(answer, acknowledging));
    const peer = accepting();
    expect(await run(world, peer)).toEqual(failed("malformed", sentence));
    await passing(() => isCancelled(world));
    expect(methodsOf(world.sent)).toEqual([
      ...["tools/call", "tools/call", "tasks/get", "tasks/cancel"],
    ]);
    expect(peer.questions).toEqual([]);
  });

  test.for([undefined, "", 7])("an id that is %s", async (taskId, { expect }) => {
    const world = behind([demanding, making({ taskId })]);
    expect(await run(world)).toEqual(
      failed("malformed", "made a task without an id that can be used"),
    );
    expect(world.sent).toHaveLength(2);
  });
});

/** Takes this long to answer that it works. */
function later(minutes: number): Answer {
  return (seen) => {
    vi.setSystemTime(Date.now() + minutes * 60_000);
    return reporting()(seen);
  };
}

describe("the gateway gives up on", () => {
  test("a server that is away for long, with the error that the result is not known", async ({
    expect,
  }) => {
    const world = behind(inTask(reporting(), ...Array.from({ length: 6 }, () => unreachable)));
    const sentence = "could not be asked after the task of this call; its result is unknown";
    const warn = vi.spyOn(console, "warn");
    expect(await run(world)).toEqual(failed("lost", sentence));
    const lines = warn.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown);
    warn.mockRestore();
    // The log has the cause, though the call ends in an error of another kind.
    expect(lines).toMatchObject([
      { reason: "lost", cause: expect.stringMatching(/^fetch failed/) },
    ]);
    await passing(() => isCancelled(world));
    expect(methodsOf(world.sent).filter((method) => method === "tasks/get")).toHaveLength(7);
    expect(methodsOf(world.sent).filter((method) => method === "tools/call")).toHaveLength(2);
  });

  test("a server that refuses it, at once", async ({ expect }) => {
    const world = behind(inTask(() => new Response(null, { status: 401 }), acknowledging));
    expect(await run(world)).toMatchObject({ error: { data: { reason: "unauthorized" } } });
    await passing(() => isCancelled(world));
    expect(world.sent).toHaveLength(4);
  });

  test("a task of more than an hour", async ({ expect }) => {
    const world = behind(inTask(later(59), later(2), acknowledging));
    const sentence = "has not ended the task that this call is run as in an hour";
    expect(await run(world)).toEqual(failed("lost", sentence));
    await passing(() => isCancelled(world));
    expect(world.sent).toHaveLength(5);
  });

  test("a task that asks and asks", async ({ expect }) => {
    let count = 0;
    const more: Answer = (seen) => {
      if (seen.body["method"] !== "tasks/get") return acknowledging(seen);
      count += 1;
      return wanting({ [`q${count}`]: ELICIT })(seen);
    };
    const world = behind(inTask(more));
    const peer = accepting();
    expect(await run(world, peer)).toEqual(inWords("still asks for more after 8 rounds"));
    await passing(() => isCancelled(world));
    expect(peer.questions).toHaveLength(8);
  });

  test.for<{ name: string; asked: JsonObject; sentence: string; count: number }>([
    {
      name: "whose question fails",
      asked: { q: ELICIT },
      sentence: "asked this client for elicitation/create, which failed: no",
      count: 1,
    },
    {
      name: "that asks for what the client cannot do",
      asked: { q: ELICIT, r: { method: "sampling/createMessage", params: { tools: [] } } },
      sentence: "needs sampling with tools, which this client does not have",
      count: 0,
    },
  ])("a task $name", async ({ asked, sentence, count }, { expect }) => {
    const world = behind(inTask(wanting(asked), acknowledging));
    const peer = new AskedPeer(({ answer }) => answer({ error: { code: -1, message: "no" } }));
    expect(await run(world, peer)).toEqual(inWords(sentence));
    await passing(() => isCancelled(world));
    expect(methodsOf(world.sent)).not.toContain("tasks/update");
    expect(peer.questions).toHaveLength(count);
  });

  test("a task that does not take the answers", async ({ expect }) => {
    const refusing = failing({ code: -32_602, message: "SECRET" });
    const asked = wanting({ q: ELICIT });
    const world = behind(inTask(asked, refusing, asked, acknowledging));
    const peer = accepting();
    const sentence = "did not take this client's answers (error -32602)";
    expect(await run(world, peer)).toEqual(inWords(sentence));
    await passing(() => isCancelled(world));
    expect(peer.questions).toHaveLength(1);
    expect(world.sent).toHaveLength(6);
  });

  test("not a task that has ended by then", async ({ expect }) => {
    const refusing = failing({ code: -32_602, message: "SECRET" });
    const world = behind(inTask(wanting({ q: ELICIT }), refusing, done()));
    expect(await run(world)).toEqual({ result: DONE });
    expect(methodsOf(world.sent)).not.toContain("tasks/cancel");
  });
});

describe("a client that cancels has its task cancelled", () => {
  const WHY = new Error("The client cancelled the request");

  test.for<{ name: string; answers: readonly Answer[]; sent: number }>([
    { name: "between polls", answers: [reporting(), reporting(), reporting()], sent: 4 },
    { name: "in the course of one", answers: [reporting(), hanging(() => undefined)], sent: 4 },
    { name: "while it is asked", answers: [wanting({ q: ELICIT })], sent: 3 },
    { name: "while the server is away", answers: [unreachable, unreachable], sent: 4 },
  ])("$name", async ({ answers, sent }, { expect }) => {
    const world = behind(inTask(...answers));
    const cancel = new AbortController();
    const peer = new AskedPeer();
    const reply = failureOf(world.server.request(CALL, peer, cancel.signal));
    const isAsked = (): boolean => peer.questions.length === 1;
    await passing(() => world.sent.length === sent && (sent !== 3 || isAsked()));
    cancel.abort(WHY);
    expect(await ended(reply)).toBe(WHY);
    await passing(() => isCancelled(world));
    expect(world.sent).toHaveLength(sent + 1);
    expect(peer.questions.every(({ withdrawn }) => withdrawn.aborted)).toBe(true);
  });

  test("in the moment of its answer, which goes nowhere", async ({ expect }) => {
    const world = behind(inTask(wanting({ q: ELICIT }), acknowledging));
    const cancel = new AbortController();
    const peer = new AskedPeer(({ answer }) => {
      answer({ result: ACCEPTED });
      cancel.abort(WHY);
    });
    expect(await ended(failureOf(world.server.request(CALL, peer, cancel.signal)))).toBe(WHY);
    await passing(() => isCancelled(world));
    expect(methodsOf(world.sent)).not.toContain("tasks/update");
  });
});
