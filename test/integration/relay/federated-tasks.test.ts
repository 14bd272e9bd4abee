/**
 * 2026-07-28: tasks of servers, where several meet and where one is alone. A client knows a task under
 * an id of the gateway's, which leads to the server that has it, and nowhere for anybody else.
 */

import { beforeAll, beforeEach, describe, test } from "vitest";

import { encodeHeaderValue } from "../../../src/protocol/header-value.ts";
import type { Json, Reaction, Recorded, Script } from "../../support/scripted-upstream-script.ts";
import { modern, Session, type ModernOptions } from "../client.ts";
import { EventReader, type Message, responseIn } from "../event-reader.ts";
import { takeSeveral } from "../several-servers.ts";
import { event, jsonOf, progress, streamOf, type Upstream } from "../upstream.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const DECLARED: Json = { extensions: { [TASKS]: {} } };
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
/** Nothing that a header could carry as it is. */
const OWN = "Aufgabe №1 = 任务";
const SEED = {
  ...{ taskId: OWN, status: "working", ttlMs: 60_000, pollIntervalMs: 10 },
  ...{ createdAt: "2026-11-01T00:00:00Z", lastUpdatedAt: "2026-11-01T00:00:00Z" },
};
const QUESTION = { method: "elicitation/create", params: { mode: "form", message: "Sure?" } };
const METHODS = ["tasks/get", "tasks/update", "tasks/cancel"] as const;
const MISSING = {
  code: -32_021,
  data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
};

const created = (more: Json = {}): Reaction =>
  jsonOf({ result: { resultType: "task", ...SEED, ...more } });
const got = (more: Json = {}): Reaction =>
  jsonOf({ result: { resultType: "complete", ...SEED, ...more } });
const acknowledged: Reaction = jsonOf({ result: { resultType: "complete" } });

const script = (reactions: Script["reactions"] = {}): Script => ({
  ...{ server: "modern", tools: [{ name: "work", inputSchema: { type: "object" } }] },
  capabilities: { tools: {}, extensions: { [TASKS]: {}, "com.example/x": {} } },
  reactions: {
    "tools/call": [created()],
    "tasks/get": [got()],
    "tasks/update": [acknowledged],
    "tasks/cancel": [acknowledged],
    ...reactions,
  },
});

let first: Upstream;
let second: Upstream;
let legacy: Upstream;

beforeAll(async () => {
  const older: Script = {
    server: "legacy",
    capabilities: { tools: {}, extensions: { [TASKS]: {} } },
    tools: [{ name: "work", inputSchema: { type: "object" } }],
  };
  const several = [{ script: script() }, { script: script() }, { script: older }];
  [first, second, legacy] = (await takeSeveral(several)) as [Upstream, Upstream, Upstream];
});
beforeEach(async () => {
  await Promise.all([first, second].map((upstream) => upstream.script(script())));
});

const PLACES = ["merged", "alone"] as const;
type Place = (typeof PLACES)[number];

/** Where several servers meet, a result says which of them it is of. */
function named(place: Place): Json {
  return place === "merged" ? { _meta: { "edgeway/server": first.slug } } : {};
}

const at = (place: Place, upstream: Upstream): { mcp: string } =>
  place === "merged" ? { mcp: "/mcp" } : upstream;

async function call(
  place: Place,
  upstream: Upstream = first,
  capabilities: Json = DECLARED,
): Promise<Message> {
  const name = place === "merged" ? `${upstream.slug}__work` : "work";
  const params = { name, arguments: {} };
  return responseIn(await modern(at(place, upstream), "tools/call", params, { capabilities }));
}

async function begin(place: Place, upstream: Upstream = first): Promise<string> {
  return String((await call(place, upstream)).result?.["taskId"]);
}

async function say(
  place: Place,
  method: string,
  params: Json,
  options: ModernOptions = {},
): Promise<Message> {
  const { taskId } = params;
  const headers = typeof taskId === "string" ? { "Mcp-Name": encodeHeaderValue(taskId) } : {};
  const said = { capabilities: DECLARED, headers, ...options };
  return responseIn(await modern(at(place, first), method, params, said));
}

/** Everything of tasks that came to a server, in order. */
async function saidOfTasks(): Promise<readonly Recorded[]> {
  const logs = await Promise.all([first, second, legacy].map((upstream) => upstream.log()));
  return logs.flat().filter(({ body }) => body?.method?.startsWith("tasks/"));
}

describe.for(PLACES)("%s, a task", (place) => {
  test("has an id of the gateway's, and is otherwise as the server describes it", async ({
    expect,
  }) => {
    const { result } = await call(place);
    const { taskId, ...rest } = result ?? {};
    const { taskId: _, ...seed } = SEED;
    expect(rest).toEqual({ resultType: "task", ...seed, ...named(place) });
    expect(taskId).toMatch(/^[A-Za-z0-9]+\.2\.[A-Za-z0-9_-]{40,}$/);
    const { params } = (await first.sent("tools/call")).at(-1)?.body ?? {};
    expect(params?.["_meta"]).toMatchObject({ [CAPABILITIES_KEY]: DECLARED });
  });

  test.for(METHODS)("is reached by %s, under the server's own id", async (method, { expect }) => {
    const taskId = await begin(place);
    const { result, error } = await say(place, method, { taskId, inputResponses: { q: {} } });
    expect(error).toBeUndefined();
    const answer = method === "tasks/get" ? { ...SEED, taskId } : {};
    expect(result).toEqual({ resultType: "complete", ...answer, ...named(place) });
    const record = (await first.sent(method)).at(-1);
    expect(record?.body?.params).toMatchObject({ taskId: OWN, inputResponses: { q: {} } });
    const inHeader = Buffer.from(OWN).toString("base64");
    expect(record?.headers["mcp-name"]).toBe(`=?base64?${inHeader}?=`);
    expect(record?.headers["mcp-method"]).toBe(method);
  });

  test("asks, and ends, with nothing in it that is the server's own", async ({ expect }) => {
    const related = { "io.modelcontextprotocol/related-task": { taskId: OWN } };
    const asking = { status: "input_required", inputRequests: { q: QUESTION } };
    const ended = { status: "completed", result: { content: [], isError: true, _meta: related } };
    await first.script(
      script({
        "tools/call": [created({ requestState: OWN, _meta: related })],
        "tasks/get": [got({ ...asking, requestState: OWN, _meta: related }), got(ended)],
      }),
    );
    const begun = await call(place);
    expect(JSON.stringify(begun)).not.toContain(OWN);
    const taskId = String(begun.result?.["taskId"]);
    const asked = await say(place, "tasks/get", { taskId });
    expect(asked.result).not.toHaveProperty("requestState");
    const isMerged = place === "merged";
    expect(asked.result).toMatchObject({
      ...{ taskId, status: "input_required" },
      inputRequests: { q: { params: { message: isMerged ? `[${first.slug}] Sure?` : "Sure?" } } },
    });
    const { result } = await say(place, "tasks/get", { taskId });
    const ending = { content: [], isError: true, ...named(place) };
    expect(result).toMatchObject({ taskId, result: ending, ...named(place) });
    expect(JSON.stringify([asked, result])).not.toContain(OWN);
  });

  test("that failed keeps its error", async ({ expect }) => {
    const error = { code: -32_603, message: "broke", data: { a: 1 } };
    await first.script(script({ "tasks/get": [got({ status: "failed", error })] }));
    const { result } = await say(place, "tasks/get", { taskId: await begin(place) });
    expect(result).toMatchObject({ status: "failed", error });
  });

  test("that its server has forgotten gets the server's own error", async ({ expect }) => {
    const error = { code: -32_602, message: "Task has expired" };
    await first.script(script({ "tasks/get": [jsonOf({ error })] }));
    const reply = await say(place, "tasks/get", { taskId: await begin(place) });
    expect(reply.error).toEqual(error);
  });

  test("is offered only to clients that declare the extension with the same request", async ({
    expect,
  }) => {
    const taskId = await begin(place);
    const before = (await saidOfTasks()).length;
    for (const method of METHODS) {
      for (const id of [taskId, "gate-test"]) {
        const options = { capabilities: {} };
        const response = await modern(at(place, first), method, { taskId: id }, options);
        expect(response.status).toBe(400);
        expect((await responseIn(response)).error).toMatchObject(MISSING);
      }
    }
    expect(await saidOfTasks()).toHaveLength(before);
  });

  test.for<[name: string, capabilities: Json]>([
    ["does not declare it", {}],
    ["declares another", { extensions: { "io.modelcontextprotocol/ui": {} } }],
  ])("is an error for a client that %s", async ([, capabilities], { expect }) => {
    const { error } = await call(place, first, capabilities);
    expect(error).toMatchObject({ code: -32_603, data: { upstream: first.slug } });
    expect(error?.message).toContain("nobody asked for");
    const { params } = (await first.sent("tools/call")).at(-1)?.body ?? {};
    expect(JSON.stringify(params)).not.toContain(TASKS);
  });

  test.for([undefined, null, "", 7, "x".repeat(2049)])(
    "under the id %j is none that anybody could reach",
    async (taskId, { expect }) => {
      await first.script(script({ "tools/call": [created({ taskId })] }));
      const { error } = await call(place);
      expect(error).toMatchObject({ data: { upstream: first.slug, reason: "malformed" } });
    },
  );

  const FORGERIES: readonly { name: string; forge: () => Promise<unknown> }[] = [
    { name: "tampered with", forge: async () => `${await begin(place)}A` },
    { name: "cut", forge: async () => (await begin(place)).slice(0, -1) },
    { name: "the server's own", forge: () => Promise.resolve(OWN) },
    { name: "never given", forge: () => Promise.resolve("tasks-nonexistent-12345") },
    {
      name: "of another endpoint",
      forge: () => begin(place === "merged" ? "alone" : "merged"),
    },
    { name: "of another server's endpoint", forge: () => begin("alone", second) },
  ];
  test.for(FORGERIES)(
    "is not there under an id $name, and no server hears",
    async ({ forge }, { expect }) => {
      const taskId = await forge();
      const before = (await saidOfTasks()).length;
      const refusals = new Set<string>();
      for (const method of METHODS) {
        const { error } = await say(place, method, { taskId, inputResponses: {} });
        expect(error?.code).toBe(-32_602);
        refusals.add(JSON.stringify(error));
      }
      const invented = await say(place, "tasks/get", { taskId: "x" });
      // Nothing tells what was forged from what never was.
      expect([...refusals]).toEqual([JSON.stringify(invented.error)]);
      expect(await saidOfTasks()).toHaveLength(before);
    },
  );

  test("has its id in a header with the same value", async ({ expect }) => {
    const taskId = await begin(place);
    const other = await begin(place);
    const before = (await saidOfTasks()).length;
    for (const name of [undefined, other, encodeHeaderValue(OWN)]) {
      const headers = { "Mcp-Name": name };
      const options = { capabilities: DECLARED, headers };
      const response = await modern(at(place, first), "tasks/get", { taskId }, options);
      expect(response.status).toBe(400);
      expect((await responseIn(response)).error?.code).toBe(-32_020);
    }
    expect(await saidOfTasks()).toHaveLength(before);
  });
});

test("each server receives requests about its own tasks alone", async ({ expect }) => {
  const [ofFirst, ofSecond] = [await begin("merged", first), await begin("merged", second)];
  const received = async (): Promise<readonly number[]> => {
    const sent = [first, second].map((upstream) => upstream.sent("tasks/cancel"));
    return (await Promise.all(sent)).map(({ length }) => length);
  };
  const [atFirst = 0, atSecond = 0] = await received();
  expect(await say("merged", "tasks/cancel", { taskId: ofSecond })).toHaveProperty("result");
  expect(await received()).toEqual([atFirst, atSecond + 1]);
  expect(await say("merged", "tasks/cancel", { taskId: ofFirst })).toHaveProperty("result");
  expect(await received()).toEqual([atFirst + 1, atSecond + 1]);
});

test("no notification of an older task precedes the result", async ({ expect }) => {
  const related = { "io.modelcontextprotocol/related-task": { taskId: OWN } };
  const { method, params } = progress(1) as { method: string; params: Json };
  const news = { method: "notifications/tasks", params: { ...SEED, status: "completed" } };
  await first.script(
    script({
      "tools/call": [
        streamOf(
          event({ method, params: { ...params, _meta: related } }),
          event(news),
          event({ id: "{{id}}", result: { resultType: "task", ...SEED } }),
        ),
      ],
    }),
  );
  const options = { capabilities: DECLARED, meta: { progressToken: "p" } };
  const response = await modern(first, "tools/call", { name: "work", arguments: {} }, options);
  const text = await response.text();
  expect(text).toContain('"progress":1');
  expect(text).toContain('"resultType":"task"');
  expect(text).not.toContain(OWN);
  expect(text).not.toContain("notifications/tasks");
});

const extensionsOf = ({ result }: Message): unknown =>
  (result?.["capabilities"] as Json | undefined)?.["extensions"];

describe("the extension is offered", () => {
  test("by a server that has it, and at a merged endpoint with one such server", async ({
    expect,
  }) => {
    for (const place of PLACES) {
      const { result } = await say(place, "server/discover", {}, { capabilities: {} });
      expect(extensionsOf({ result } as Message)).toEqual({ [TASKS]: {} });
      expect(result?.["capabilities"]).not.toHaveProperty("tasks");
    }
  });

  test("neither by a legacy server nor to a legacy client", async ({ expect }) => {
    const discovered = await responseIn(await modern(legacy, "server/discover"));
    expect(discovered.result).toHaveProperty("capabilities.tools");
    expect(extensionsOf(discovered)).toBeUndefined();
    for (const { mcp } of [first, { mcp: "/mcp" }]) {
      const { opening } = await Session.open(mcp, { capabilities: DECLARED });
      expect(opening?.result).toHaveProperty("capabilities.tools");
      expect(JSON.stringify(opening)).not.toContain(TASKS);
    }
  });

  test("and a legacy client's declaration of it is not passed on", async ({ expect }) => {
    const session = await Session.inUse(first.mcp, { capabilities: DECLARED });
    const { error } = await responseIn(await session.callTool());
    expect(error?.message).toContain("nobody asked for");
    const { params } = (await first.sent("tools/call")).at(-1)?.body ?? {};
    expect(JSON.stringify(params)).not.toContain(TASKS);
    for (const method of METHODS) {
      const reply = await responseIn(await session.request(method, { taskId: OWN }));
      expect(reply.error?.code).toBe(-32_601);
    }
    expect((await legacy.log()).map(({ body }) => JSON.stringify(body)).join()).not.toContain(
      TASKS,
    );
  });
});

test.for(["tasks/list", "tasks/result"])("%s is gone", async (method, { expect }) => {
  const response = await modern(first, method, { taskId: "x" }, { capabilities: DECLARED });
  expect(response.status).toBe(404);
  expect((await responseIn(response)).error?.code).toBe(-32_601);
});

describe("a subscription to tasks", () => {
  const asked = { notifications: { toolsListChanged: true, taskIds: ["x"] } };

  test("is left out of what is acknowledged", async ({ expect }) => {
    const options = { capabilities: DECLARED };
    const response = await modern({ mcp: "/mcp" }, "subscriptions/listen", asked, options);
    const stream = new EventReader(response);
    expect(await stream.message()).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { toolsListChanged: true } },
    });
    await stream.cancel();
    const listened = [...(await first.log()), ...(await second.log())];
    expect(JSON.stringify(listened.map(({ body }) => body))).not.toContain("taskIds");
  });

  test("takes the extension", async ({ expect }) => {
    const response = await modern({ mcp: "/mcp" }, "subscriptions/listen", asked);
    expect(response.status).toBe(400);
    expect((await responseIn(response)).error).toMatchObject(MISSING);
  });
});
