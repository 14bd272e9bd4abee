/** Tools that run as tasks alone: a call whose answer is a task and no result. */

import { expect, test, vi } from "vitest";

import { TaskTools } from "../../../../src/relay/tasks/task-tools.ts";
import type { Call, Peer } from "../../../../src/protocol/exchange.ts";
import type { Reply } from "../../../../src/protocol/json-rpc.ts";
import { UpstreamError } from "../../../../src/upstream/upstream-error.ts";
import { until } from "../../../support/until.ts";

const NOBODY: Peer = {
  notify: () => Promise.resolve(),
  ask: () => Promise.resolve({ error: { code: 1, message: "not here" } }),
};
const DONE: Reply = { result: { content: [{ type: "text", text: "done" }] } };
const TAKES_TASKS = { tasks: { requests: { tools: { call: {} } } } };

/** A server with a tool of each kind. */
class Server {
  readonly calls: Call[] = [];

  request({ call }: { readonly call: Call }): Promise<Reply> {
    this.calls.push(call);
    return Promise.resolve(this.#answer(call));
  }

  #answer({ method, params }: Call): Reply {
    if (method === "tools/list") {
      const tools = ["forbidden", "optional", "required"].map((taskSupport) => ({
        ...{ name: taskSupport, execution: { taskSupport } },
      }));
      return { result: { tools } };
    }
    const isTask = method === "tools/call" && params?.["task"] !== undefined;
    return isTask ? { result: { task: { taskId: "t-1", status: "working" } } } : DONE;
  }

  get methods(): readonly string[] {
    return this.calls.map(({ method }) => method);
  }
}

function requestOf(name: string) {
  const call = { method: "tools/call", params: { name } };
  return { call, peer: NOBODY, signal: new AbortController().signal };
}

test("a tool that needs a task gets one, and its result is a plain one", async () => {
  const server = new Server();
  const tasks = new TaskTools("docs", () => 0, 100);
  expect(await tasks.send(server, requestOf("required"), TAKES_TASKS)).toEqual(DONE);
  expect(server.methods).toEqual(["tools/list", "tools/call", "tasks/result"]);
  expect(server.calls.at(-1)?.params).toEqual({ taskId: "t-1" });
});

test.for(["optional", "forbidden", "unlisted"])(
  "a tool whose task support is %s is called without a task",
  async (name) => {
    const server = new Server();
    expect(
      await new TaskTools("docs", () => 0, 100).send(server, requestOf(name), TAKES_TASKS),
    ).toEqual(DONE);
    expect(server.calls.at(-1)).toEqual({ method: "tools/call", params: { name } });
  },
);

test("a server without tasks is not asked which tools need one", async () => {
  const server = new Server();
  await new TaskTools("docs", () => 0, 100).send(server, requestOf("required"), {});
  expect(server.methods).toEqual(["tools/call"]);
});

/** As of `tasks/result`, and of a call that has no task yet. */
const OF_TASK = JSON.stringify({ request: "1", lastEventId: "e1", task: "t-0" });
const OF_CALL = JSON.stringify({ request: "1", lastEventId: "e1" });

/** Resumes a call that has no task yet, to this reply. */
function resumed(server: Pick<Server, "request">, reply: Reply): Promise<Reply> {
  const { peer, signal } = requestOf("required");
  const place = { resumeToken: OF_CALL, asked: [] };
  const tasks = new TaskTools("docs", () => 0, 100);
  return tasks.resume(server, { peer, signal }, place, () => Promise.resolve(reply));
}

test("a task whose result was waited for before a restart is polled where its stream is lost", async () => {
  const server = new Server();
  const { peer, signal } = requestOf("required");
  const again = new TaskTools("docs", () => 0, 100).resume(
    server,
    { peer, signal },
    { resumeToken: OF_TASK, asked: [] },
    () => Promise.reject(new UpstreamError("docs", "lost", "broke the connection")),
  );
  expect(await again).toEqual(DONE);
  expect(server.calls).toEqual(
    ["tasks/get", "tasks/result"].map((method) => ({ method, params: { taskId: "t-0" } })),
  );
});

test("a task that was made while nobody was there is waited for", async () => {
  const server = new Server();
  expect(await resumed(server, { result: { task: { taskId: "t-0" } } })).toEqual(DONE);
  expect(server.calls).toEqual([{ method: "tasks/result", params: { taskId: "t-0" } }]);
});

test("the answers in a task name it, also to a question from before a restart", async () => {
  const { signal } = requestOf("required");
  const peer: Peer = { ...NOBODY, ask: () => Promise.resolve({ result: { n: 1 } }) };
  const asked = [{ resumeToken: OF_TASK, wait: () => Promise.resolve({ result: { n: 0 } }) }];
  const answers: Reply[] = [];
  const tasks = new TaskTools("docs", () => 0, 100);
  await tasks.resume(
    new Server(),
    { peer, signal },
    { resumeToken: OF_TASK, asked },
    async (peer, asked) => {
      for (const { wait } of asked) answers.push(await wait(signal, Promise.resolve()));
      answers.push(await peer.ask({ method: "elicitation/create" }, signal));
      return DONE;
    },
  );
  const _meta = { "io.modelcontextprotocol/related-task": { taskId: "t-0" } };
  expect(answers).toEqual([{ result: { n: 0, _meta } }, { result: { n: 1, _meta } }]);
});

test("a client that hangs up when its task was taken up again has it cancelled", async () => {
  const server = new Server();
  const leaving = new AbortController();
  const { peer } = requestOf("required");
  const again = new TaskTools("docs", () => 0, 100).resume(
    server,
    { peer, signal: leaving.signal },
    { resumeToken: OF_TASK, asked: [] },
    () => {
      leaving.abort(new Error("gone"));
      return Promise.reject(leaving.signal.reason as Error);
    },
  );
  await expect(again).rejects.toThrow("gone");
  expect(server.calls).toEqual([{ method: "tasks/cancel", params: { taskId: "t-0" } }]);
});

test.for<Reply>([
  DONE,
  { result: { content: [], task: { taskId: "a word of the tool's own" } } },
  { result: { task: "none" } },
  { error: { code: -32603, message: "failed" } },
])("any other reply is passed on: %j", async (reply) => {
  const server = new Server();
  expect(await resumed(server, reply)).toBe(reply);
  expect(server.calls).toEqual([]);
});

/** A server whose answers a test gives when it likes. */
class Slow {
  readonly sent: { call: Call; signal: AbortSignal; reply: (reply: Reply) => void }[] = [];
  readonly request = ({ call, signal }: { call: Call; signal: AbortSignal }): Promise<Reply> => {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    signal.addEventListener("abort", () => reject(signal.reason as Error));
    this.sent.push({ call, signal, reply: resolve });
    return promise;
  };

  /** Waits until it was sent so many requests. */
  async last(count: number): Promise<Slow["sent"][number]> {
    await until(() => this.sent.length >= count, `${count} requests`);
    return this.sent[count - 1] as Slow["sent"][number];
  }
}

const LISTED: Reply = {
  result: { tools: [{ name: "required", execution: { taskSupport: "required" } }] },
};
const MADE: Reply = { result: { task: { taskId: "t-1" } } };

test.for(["other-era", "session-lost"] as const)(
  "a task whose server answers %s is lost, and is not reported as a call that did not run",
  async (failure) => {
    const server = {
      request: () => Promise.reject(new UpstreamError("docs", failure, "does not know it")),
    };
    await expect(resumed(server, MADE)).rejects.toMatchObject({
      failure: "lost",
      message: expect.stringMatching(/^Upstream "docs" .*unknown$/) as string,
    });
  },
);

test("a client that hangs up while a task is made has it cancelled once it was made", async () => {
  const server = new Slow();
  const leaving = new AbortController();
  const request = { ...requestOf("required"), signal: leaving.signal };
  const sent = new TaskTools("docs", () => 0, 100).send(server, request, TAKES_TASKS);
  (await server.last(1)).reply(LISTED);
  const making = await server.last(2);
  leaving.abort(new Error("gone"));
  await expect(sent).rejects.toThrow("gone");
  expect(making.signal.aborted).toBe(false);
  making.reply(MADE);
  expect((await server.last(3)).call).toEqual({
    ...{ method: "tasks/cancel", params: { taskId: "t-1" } },
  });
});

test("a task that is not made in time is not waited for when no client wants it", async () => {
  vi.useFakeTimers();
  try {
    const server = new Slow();
    const leaving = new AbortController();
    const request = { ...requestOf("required"), signal: leaving.signal };
    const sent = new TaskTools("docs", () => 0, 100).send(server, request, TAKES_TASKS);
    server.sent[0]?.reply(LISTED);
    await vi.advanceTimersByTimeAsync(0);
    leaving.abort(new Error("gone"));
    await expect(sent).rejects.toThrow("gone");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.sent[1]?.signal.aborted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    expect(server.sent).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});
