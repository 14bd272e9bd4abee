/** The tasks of a session's client at one server: which ids go up and down, and what is somebody else's. */

import { describe, test } from "vitest";

import type { SessionKeys } from "../../../../src/endpoint/keyring.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import type { Call } from "../../../../src/protocol/exchange.ts";
import type { JsonObject, Reply } from "../../../../src/protocol/json-rpc.ts";
import { ClientTasks, type TasksScope } from "../../../../src/relay/tasks/client-tasks.ts";
import { keysOf } from "../../catalog/lists/merged-world.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";
import { serverInSession, UNHEARD } from "../session-server-fixture.ts";

const RELATED = "io.modelcontextprotocol/related-task";
const STATUS = "notifications/tasks/status";
const MAKE = { method: "tools/call", params: { name: "work", task: {} } };

const seed = (taskId: unknown): JsonObject => ({ taskId, status: "working" });
const of = (taskId: unknown): { readonly _meta: JsonObject } => ({
  _meta: { [RELATED]: { taskId } },
});
const NO_KEYS = {
  keyring: () => Promise.reject(new Error("no keys")),
} as unknown as SessionKeys;
const made = (taskId: string): Reply => ({ result: { task: seed(taskId) } });

class Scene {
  readonly sent: Call[] = [];
  saves = 0;
  readonly tasks: ClientTasks;

  constructor(scope: Partial<TasksScope> = {}, slug = "docs", saved: ClientTasks["saved"] = []) {
    const usual = { keys: keysOf(1), principal: "ann", route: "/mcp/docs", limits: limits() };
    this.tasks = new ClientTasks({ ...usual, ...scope }, slug, saved, () => void (this.saves += 1));
  }

  async ask(call: Call, reply: Reply = { result: {} }): Promise<JsonObject> {
    const answer = await this.tasks.request(call, (own) => {
      this.sent.push(own);
      return Promise.resolve(reply);
    });
    return "error" in answer ? { ...answer.error } : answer.result;
  }

  async begin(taskId: string): Promise<string> {
    const { task } = await this.ask(MAKE, made(taskId));
    return String((task as JsonObject)["taskId"]);
  }
}

function limits(more: Partial<TasksScope["limits"]> = {}): TasksScope["limits"] {
  return { ...defaultLimits(), ...more };
}

const get = (taskId: unknown): Call => ({ method: "tasks/get", params: { taskId } });

test.for<[name: string, scope: Partial<TasksScope>, slug?: string]>([
  ["another principal", { principal: "bob" }],
  ["another endpoint", { route: "/mcp" }],
  ["another gateway", { keys: keysOf(2) }],
  ["another server", {}, "other"],
])("a task does not exist for %s", async ([, scope, slug], { expect }) => {
  const taskId = await new Scene().begin("t");
  const other = new Scene(scope, slug);
  const invented = await other.ask(get("invented"));
  expect(invented).toMatchObject({ code: -32_602 });
  expect(await other.ask(get(taskId))).toEqual(invented);
  expect(await other.ask({ method: "tools/call", params: of(taskId) })).toEqual(invented);
  // A method of tasks that no revision has is of no use either.
  expect(await other.ask({ method: "tasks/x", params: { taskId: "t" } })).toEqual(invented);
  expect(await other.ask({ method: "tasks/get" })).toEqual(invented);
  expect(other.sent).toEqual([]);
});

test("an answer about a task has the id that was used, and each task is saved once", async ({
  expect,
}) => {
  const scene = new Scene();
  const taskId = await scene.begin("t");
  for (let round = 0; round < 3; round++) {
    expect(await scene.ask(get(taskId), { result: seed("t") })).toEqual(seed(taskId));
  }
  // A server that confuses its tasks shows none of the others.
  expect(await scene.ask(get(taskId), { result: seed("u") })).toEqual(seed(taskId));
  expect(scene.sent.at(-1)).toEqual(get("t"));
  expect(scene.saves).toBe(1);
  expect(scene.tasks.saved).toEqual([["t", taskId]]);
});

test("only the newest are listed, and older ones can still be asked for", async ({ expect }) => {
  const scene = new Scene({ limits: limits({ listedTasksPerSession: 2 }) });
  const given = [await scene.begin("a"), await scene.begin("b"), await scene.begin("c")];
  const list = (): Promise<JsonObject> =>
    scene.ask({ method: "tasks/list" }, { result: { tasks: ["a", "b", "c"].map(seed) } });
  expect(await list()).toEqual({ tasks: given.slice(1).map(seed) });
  expect(await scene.ask(get(given[0]), { result: seed("a") })).toEqual(seed(given[0]));
  expect(await list()).toEqual({ tasks: [seed(given[0]), seed(given[2])] });
});

test("an id that is too long for the session's row is known while the session lives", async ({
  expect,
}) => {
  const scene = new Scene();
  const long = "x".repeat(1024);
  const taskId = await scene.begin(long);
  expect(scene.tasks.saved).toEqual([]);
  expect(await scene.ask({ method: "tasks/list" }, { result: { tasks: [seed(long)] } })).toEqual({
    tasks: [seed(taskId)],
  });
});

test.for<[name: string, tasks: unknown]>([
  ["no list", { t: seed("t") }],
  ["a list of other things", [null, "t", { taskId: 1 }, { id: "t" }]],
  ["nothing", undefined],
])("a list that is %s has no tasks", async ([, tasks], { expect }) => {
  const scene = new Scene();
  await scene.begin("t");
  expect(await scene.ask({ method: "tasks/list" }, { result: { tasks } })).toEqual({ tasks: [] });
});

test("a list that repeats its cursor, or goes on for too long, ends", async ({ expect }) => {
  const scene = new Scene({ limits: limits({ catalogPages: 3 }) });
  const next = async (cursor: unknown, nextCursor: string): Promise<unknown> => {
    const params = cursor === undefined ? {} : { cursor };
    const page = { result: { tasks: [], nextCursor } };
    return (await scene.ask({ method: "tasks/list", params }, page))["nextCursor"];
  };
  const first = await next(undefined, "1");
  expect(await next(first, "1")).toBeUndefined();
  expect(await next(await next(first, "2"), "3")).toBeUndefined();
});

test("no task is begun while its id could not be sealed", async ({ expect }) => {
  const scene = new Scene({ keys: NO_KEYS });
  await expect(scene.ask(MAKE)).rejects.toThrow("no keys");
  expect(scene.sent).toEqual([]);
});

describe("the reply to a request of an earlier life", () => {
  test.for<[name: string, result: JsonObject, shown: (taskId: string) => JsonObject]>([
    ["is a new task", { task: seed("t") }, (taskId) => ({ task: seed(taskId) })],
    ["describes a task", seed("t"), seed],
    ["is the result of a task", { content: [], ...of("t") }, (id) => ({ content: [], ...of(id) })],
    ["is of somebody else's", { content: [], ...of("u") }, () => ({ content: [] })],
    ["is a list", { tasks: [seed("u"), seed("t")] }, (taskId) => ({ tasks: [seed(taskId)] })],
    ["has a member of that name", { content: [], tasks: [1] }, () => ({ content: [], tasks: [1] })],
  ])("%s", async ([, result, shown], { expect }) => {
    const before = new Scene();
    const taskId = await before.begin("t");
    const { tasks } = new Scene({}, "docs", before.tasks.saved);
    expect(await tasks.resumed({ result })).toEqual({ result: shown(taskId) });
  });
});

test("a client's notifications and late answers name no task that is not its own", async ({
  expect,
}) => {
  const scene = new Scene();
  const taskId = await scene.begin("t");
  const method = "notifications/progress";
  const notice = async (id: string): Promise<unknown> =>
    (await scene.tasks.notice({ method, params: { progress: 1, ...of(id) } })).params;
  expect(await notice(taskId)).toEqual({ progress: 1, ...of("t") });
  expect(await notice("t")).toEqual({ progress: 1 });
  const late = scene.tasks.question({
    resumeToken: "r",
    wait: () => Promise.resolve({ result: { action: "accept", ...of(taskId) } }),
  });
  const { signal } = new AbortController();
  expect(await late.wait(signal, Promise.resolve())).toEqual({
    result: { action: "accept", ...of("t") },
  });
});

test("a client without tasks hears of no status, and of everything else", async ({ expect }) => {
  const heard: string[] = [];
  const revision = "2025-11-25";
  const server = serverInSession({
    target: fakeTarget(() => Response.json({})),
    client: { revision, capabilities: {}, clientInfo: {} },
    unsolicited: { ...UNHEARD, notify: ({ method }) => Promise.resolve(void heard.push(method)) },
    saved: {
      ...{ transport: "streamable-http", sessionId: "s", logLevel: undefined },
      handshake: { revision, capabilities: {}, serverInfo: {} },
    },
    tasksScope: undefined,
  });
  for (const method of [STATUS, "notifications/message"]) {
    const message = { jsonrpc: "2.0", method, params: seed("t") } as const;
    await server.session?.receive({ parsed: { kind: "notification", message } });
  }
  expect(heard).toEqual(["notifications/message"]);
});
