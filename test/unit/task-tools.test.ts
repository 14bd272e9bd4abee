/** Tools that are run as tasks alone: what becomes of a call whose answer is a task, and no result. */

import { expect, test } from "vitest";

import { TaskTools } from "../../src/bridge/task-tools.ts";
import type { Call, Peer } from "../../src/protocol/exchange.ts";
import type { Reply } from "../../src/protocol/json-rpc.ts";

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

test("one that needs a task is given one, and its result is a plain one", async () => {
  const server = new Server();
  const tasks = new TaskTools("docs", () => 0);
  expect(await tasks.send(server, requestOf("required"), TAKES_TASKS)).toEqual(DONE);
  expect(server.methods).toEqual(["tools/list", "tools/call", "tasks/result"]);
  expect(server.calls.at(-1)?.params).toEqual({ taskId: "t-1" });
});

test.for(["optional", "forbidden", "unlisted"])(
  "one that is %s is called plainly",
  async (name) => {
    const server = new Server();
    expect(await new TaskTools("docs", () => 0).send(server, requestOf(name), TAKES_TASKS)).toEqual(
      DONE,
    );
    expect(server.calls.at(-1)).toEqual({ method: "tools/call", params: { name } });
  },
);

test("a server without tasks is not asked which tools need one", async () => {
  const server = new Server();
  await new TaskTools("docs", () => 0).send(server, requestOf("required"), {});
  expect(server.methods).toEqual(["tools/call"]);
});

test("a task that was made before a restart is waited for", async () => {
  const server = new Server();
  const made: Reply = { result: { task: { taskId: "t-0" } } };
  const { peer, signal } = requestOf("required");
  expect(await new TaskTools("docs", () => 0).finish(server, { peer, signal }, made)).toEqual(DONE);
  expect(server.calls).toEqual([{ method: "tasks/result", params: { taskId: "t-0" } }]);
});

test.for<Reply>([
  DONE,
  { result: { content: [], task: { taskId: "a word of the tool's own" } } },
  { result: { task: "none" } },
  { error: { code: -32603, message: "failed" } },
])("anything else is what it is: %j", async (reply) => {
  const server = new Server();
  const { peer, signal } = requestOf("required");
  expect(await new TaskTools("docs", () => 0).finish(server, { peer, signal }, reply)).toBe(reply);
  expect(server.calls).toEqual([]);
});
