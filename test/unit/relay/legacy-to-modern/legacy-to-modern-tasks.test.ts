/** A call that a modern server runs as a task alone: for a legacy client it is a call like any other. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { Reply } from "../../../../src/protocol/json-rpc.ts";
import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";
import type { Answer } from "../../upstream/fake-target.ts";
import {
  ACCEPTED,
  asking,
  behind,
  CALL,
  CAPABILITIES_KEY,
  completing,
  DONE,
  ELICIT,
  failing,
  LEVEL_KEY,
  metaIn,
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
  TASKS,
  reporting,
  unreachable,
  wanting,
} from "./legacy-to-modern-task-fixture.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const accepting = (): AskedPeer => new AskedPeer(({ answer }) => answer({ result: ACCEPTED }));
const run = ({ server }: World, peer = accepting()): Promise<Reply> =>
  ended(server.request(CALL, peer, never));

describe("a refused call", () => {
  test("is sent once more as one that may be a task, which is polled", async ({ expect }) => {
    const world = behind(inTask(reporting(), reporting(), done()), { savedLogLevel: "debug" });
    const params = { ...CALL.params, _meta: { progressToken: "p" } };
    const reply = world.server.request({ ...CALL, params }, accepting(), never);
    expect(await ended(reply)).toEqual({ result: DONE });

    const { sent } = world;
    const polls = Array.from({ length: 3 }, () => "tasks/get");
    expect(methodsOf(sent)).toEqual(["tools/call", "tools/call", ...polls]);
    expect(sent.map(declaresTasks)).toEqual([false, true, true, true, true]);
    expect(metaIn(sent[1])[CAPABILITIES_KEY]).toEqual({
      ...{ roots: {}, sampling: {}, elicitation: { form: {}, url: {} } },
      extensions: { [TASKS]: {} },
    });
    expect(paramsOf(sent[1])).toMatchObject(CALL.params);
    expect(new Set(sent.map(({ body }) => body["id"])).size).toBe(5);
    for (const poll of sent.slice(2)) {
      expect(paramsOf(poll)["taskId"]).toBe(ID);
      expect(poll.headers.get("Mcp-Name")).toBe(encoded(ID));
      expect(metaIn(poll)).not.toHaveProperty("progressToken");
      expect(metaIn(poll)).not.toHaveProperty([LEVEL_KEY]);
    }
  });

  test("may be answered without a task", async ({ expect }) => {
    const world = behind([demanding, completing()]);
    expect(await run(world)).toEqual({ result: DONE });
    expect(world.sent).toHaveLength(2);
  });

  test("may ask before it is a task, and is one from then on", async ({ expect }) => {
    const world = behind([demanding, asking({ q: ELICIT }, "s"), making(), done()]);
    expect(await run(world)).toEqual({ result: DONE });
    expect(methodsOf(world.sent)).toEqual([
      ...["tools/call", "tools/call", "tools/call", "tasks/get"],
    ]);
    expect(paramsOf(world.sent[2])).toMatchObject({
      inputResponses: { q: ACCEPTED },
      requestState: "s",
    });
    expect(world.sent.map(declaresTasks)).toEqual([false, true, true, true]);
  });

  test("may be refused for its headers too", async ({ expect }) => {
    const mismatch = failing({ code: -32_020, message: "m" }, 400);
    for (const refusals of [
      [mismatch, demanding],
      [demanding, mismatch],
    ]) {
      const world = behind([...refusals, making(), done()]);
      expect(await run(world)).toEqual({ result: DONE });
      expect(world.sent).toHaveLength(4);
    }
  });

  test("is not sent a third time", async ({ expect }) => {
    const world = behind([demanding]);
    expect(await run(world)).toMatchObject({ result: { isError: true } });
    expect(world.sent).toHaveLength(2);
  });

  const demands = { requiredCapabilities: { extensions: { [TASKS]: {} } } };
  const ui = { requiredCapabilities: { extensions: { "io.modelcontextprotocol/ui": {} } } };
  test.for([
    { name: "that may have run", error: { code: -32_021, data: demands }, status: 200 },
    { name: "for something else", error: { code: -32_021, data: ui }, status: 400 },
    { name: "by another error", error: { code: -32_603, data: demands }, status: 400 },
    { name: "without a word", error: { code: -32_021 }, status: 400 },
  ])("$name is not sent again", async ({ error, status }, { expect }) => {
    const world = behind([failing({ message: "m", ...error }, status)]);
    await run(world);
    expect(world.sent).toHaveLength(1);
    expect(world.sent.some(declaresTasks)).toBe(false);
  });
});

test("a task that was not demanded is no answer, and is not polled", async ({ expect }) => {
  for (const answers of [[making()], [asking({ q: ELICIT }), making()]]) {
    const world = behind(answers);
    expect(await run(world)).toMatchObject({ error: { data: { reason: "malformed" } } });
    expect(methodsOf(world.sent)).toEqual(answers.map(() => "tools/call"));
    expect(world.sent.some(declaresTasks)).toBe(false);
  }
});

test("the result of a task is translated as any result", async ({ expect }) => {
  const meta = { "io.modelcontextprotocol/related-task": { taskId: ID }, own: 1 };
  const result = { ...DONE, structuredContent: [1], resultType: "complete", _meta: meta };
  const facts = { bindings: [], outputSchema: { type: "array" } };
  const world = behind(inTask(done(result)), { toolFacts: () => Promise.resolve(facts) });
  expect(await run(world)).toEqual({
    result: { ...DONE, structuredContent: { result: [1] }, _meta: { own: 1 } },
  });
});

describe("a task is polled", () => {
  test.for([
    { pollIntervalMs: 1, pauseMs: 100 },
    { pollIntervalMs: -5, pauseMs: 100 },
    { pollIntervalMs: undefined, pauseMs: 2000 },
    { pollIntervalMs: "9", pauseMs: 2000 },
    { pollIntervalMs: 7000, pauseMs: 7000 },
    { pollIntervalMs: 1e9, pauseMs: 60_000 },
  ])("at $pollIntervalMs every $pauseMs ms", async ({ pollIntervalMs, pauseMs }, { expect }) => {
    const at: number[] = [];
    const noting =
      (answer: Answer): Answer =>
      (seen) => {
        at.push(Date.now());
        return answer(seen);
      };
    const answers = [making({ pollIntervalMs }), reporting({ pollIntervalMs }), done()];
    await run(behind([demanding, ...answers.map(noting)]));
    const pauses = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(pauses).toHaveLength(2);
    for (const pause of pauses) {
      expect(pause).toBeGreaterThanOrEqual(pauseMs);
      expect(pause).toBeLessThan(pauseMs + 1000);
    }
  });

  test("at once when it is made as one that does not work", async ({ expect }) => {
    const status = "completed";
    const world = behind([demanding, making({ status, pollIntervalMs: 60_000 }), done()]);
    const before = Date.now();
    expect(await run(world)).toEqual({ result: DONE });
    expect(Date.now() - before).toBeLessThan(2000);
  });

  test.for<{ name: string; broken: Answer }>([
    { name: "has no connection", broken: unreachable },
    { name: "is failing", broken: () => new Response(null, { status: 503 }) },
    { name: "is overloaded", broken: () => new Response(null, { status: 429 }) },
    {
      name: "breaks off",
      broken: () => new Response("", { headers: { "Content-Type": "text/event-stream" } }),
    },
  ])("again where the server $name", async ({ broken }, { expect }) => {
    const many = Array.from({ length: 5 }, () => broken);
    const world = behind(inTask(...many, reporting(), ...many, done()));
    expect(await run(world)).toEqual({ result: DONE });
    expect(methodsOf(world.sent).filter((method) => method === "tools/call")).toHaveLength(2);
  });
});

describe("the input request of a task", () => {
  test("is put to the client once, however long it is shown", async ({ expect }) => {
    const first = wanting({ a: ELICIT, b: ELICIT });
    const both = wanting({ b: ELICIT, c: ELICIT });
    const world = behind(inTask(first, acknowledging, first, both, acknowledging, both, done()));
    const peer = accepting();
    expect(await run(world, peer)).toEqual({ result: DONE });
    expect(peer.questions.map(({ call }) => call)).toEqual([ELICIT, ELICIT, ELICIT]);
    const updates = world.sent.filter(({ body }) => body["method"] === "tasks/update");
    expect(updates.map(paramsOf)).toMatchObject([
      { taskId: ID, inputResponses: { a: ACCEPTED, b: ACCEPTED } },
      { taskId: ID, inputResponses: { c: ACCEPTED } },
    ]);
    expect(Object.keys(paramsOf(updates[1])["inputResponses"] ?? {})).toEqual(["c"]);
    for (const update of updates) {
      expect(declaresTasks(update)).toBe(true);
      expect(update.headers.get("Mcp-Name")).toBe(encoded(ID));
    }
  });

  test("is not asked again where its answer was lost", async ({ expect }) => {
    const world = behind(
      inTask(wanting({ q: ELICIT }), unreachable, unreachable, acknowledging, done()),
    );
    const peer = accepting();
    expect(await run(world, peer)).toEqual({ result: DONE });
    expect(peer.questions).toHaveLength(1);
    const updates = world.sent.filter(({ body }) => body["method"] === "tasks/update");
    expect(updates.map((update) => paramsOf(update)["inputResponses"])).toEqual(
      Array.from({ length: 3 }, () => ({ q: ACCEPTED })),
    );
  });

  test("is ignored while the task works", async ({ expect }) => {
    const world = behind(inTask(reporting({ inputRequests: { q: ELICIT } }), done()));
    const peer = accepting();
    expect(await run(world, peer)).toEqual({ result: DONE });
    expect(peer.questions).toEqual([]);
  });
});

function encoded(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return `=?base64?${btoa(bytes)}?=`;
}
