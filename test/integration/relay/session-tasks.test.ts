/**
 * The tasks of 2025-11-25 of a client's session, under ids of the gateway's, and what is left of them when
 * the session's object is lost.
 */

import { describe, test } from "vitest";

import type { Json, Reaction, Script } from "../../support/scripted-upstream-script.ts";
import { Session } from "../client.ts";
import { EventReader, type Message, responseIn } from "../event-reader.ts";
import { WAYS_TO_LOSE } from "../session-object.ts";
import { ANSWER, event, jsonOf, LOG, RESULT, streamOf, Upstream } from "../upstream.ts";

const OWN = "t-1";
const FOREIGN = "t-of-others";
const STATUS = "notifications/tasks/status";
const RELATED = "io.modelcontextprotocol/related-task";
const CAPABILITIES = { tools: {}, tasks: { list: {}, requests: { tools: { call: {} } } } };
const FORM = { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } };
const ACCEPTED = { action: "accept", content: {} };

const seed = (taskId: string): Json => ({ taskId, status: "working", ttl: null });
const related = (taskId: string): Json => ({ [RELATED]: { taskId } });
const lasting = (result: Json): readonly Reaction[] => [{ ...jsonOf({ result }), isLasting: true }];

function take(reactions: Script["reactions"] = {}): Promise<Upstream> {
  return Upstream.take({
    ...{ server: "legacy", capabilities: CAPABILITIES },
    reactions: {
      "tools/call": [jsonOf({ result: { task: seed(OWN), _meta: related(OWN) } })],
      "tasks/get": lasting(seed(OWN)),
      "tasks/list": lasting({ tasks: [seed(FOREIGN), seed(OWN)] }),
      ...reactions,
    },
  });
}

async function ask(session: Session, method: string, params: Json = {}): Promise<Message> {
  return responseIn(await session.request(method, params));
}

async function begin(session: Session): Promise<string> {
  const { result } = await responseIn(await session.callTool("work", { task: {} }));
  return (result as { task: { taskId: string } }).task.taskId;
}

/** The next message of a server without event ids, which its session's client is told. */
async function heard(upstream: Upstream, stream: EventReader, message: Json): Promise<Message> {
  await upstream.send(message);
  return stream.message();
}

describe.for(WAYS_TO_LOSE)("of a session whose object $name, a task", ({ lose }) => {
  test("stays its client's, and others stay none of it", async ({ expect }) => {
    const upstream = await take();
    const session = await Session.open(upstream.mcp);
    const taskId = await begin(session);
    await lose(session);
    expect((await ask(session, "tasks/get", { taskId })).result).toEqual(seed(taskId));
    for (const invented of [OWN, FOREIGN, `${taskId}A`]) {
      const { error } = await ask(session, "tasks/get", { taskId: invented });
      expect(error).toMatchObject({ code: -32_602 });
    }
    expect(await upstream.sent("tasks/get")).toHaveLength(1);
  });

  test("stays in the list, and its changes are announced", async ({ expect }) => {
    const upstream = await take();
    const session = await Session.open(upstream.mcp);
    const taskId = await begin(session);
    await lose(session);
    expect((await ask(session, "tasks/list")).result).toEqual({ tasks: [seed(taskId)] });
    const stream = await session.listen();
    await upstream.send({ method: STATUS, params: seed(FOREIGN) });
    const news = await heard(upstream, stream, { method: STATUS, params: seed(OWN) });
    expect(news).toMatchObject({ method: STATUS, params: seed(taskId) });
    await stream.cancel();
  });
});

test("a task is reached from another session of the same person, which lists it from then on", async ({
  expect,
}) => {
  const upstream = await take();
  const taskId = await begin(await Session.open(upstream.mcp));
  const later = await Session.open(upstream.mcp);
  expect((await ask(later, "tasks/list")).result).toEqual({ tasks: [] });
  expect((await ask(later, "tasks/get", { taskId })).result).toEqual(seed(taskId));
  expect((await ask(later, "tasks/list")).result).toEqual({ tasks: [seed(taskId)] });
});

test("a task's messages name it as its client does, and answers as its server does", async ({
  expect,
}) => {
  const asking = event({
    ...{ id: "q", method: "elicitation/create" },
    params: { ...FORM, _meta: related(OWN) },
  });
  const ofOthers = event({ ...LOG, params: { ...LOG.params, _meta: related(FOREIGN) } });
  const end = event({ id: "{{id}}", result: { ...RESULT, _meta: related(OWN) } });
  const upstream = await take({
    "tasks/result": [streamOf(asking, ofOthers, { gate: "answered" }, end)],
  });
  const session = await Session.open(upstream.mcp, { capabilities: { elicitation: {} } });
  const taskId = await begin(session);
  const stream = new EventReader(await session.request("tasks/result", { taskId }));
  const question = await stream.message();
  expect(taskId).not.toBe(OWN);
  expect(question.params?._meta).toEqual(related(taskId));
  // No task is named that the client does not have.
  expect((await stream.message()).params).toEqual(LOG.params);
  await session.answer(question.id, { result: { ...ACCEPTED, _meta: related(taskId) } });
  expect(await upstream.receivesAnswer("q")).toMatchObject({
    result: { ...ACCEPTED, _meta: related(OWN) },
  });
  await upstream.open("answered");
  expect(await stream.message()).toMatchObject({ result: { ...RESULT, _meta: related(taskId) } });
});

test("the task of a client at its server keeps the client's own id", async ({ expect }) => {
  const asking = event({ id: "q", method: "tasks/result", params: { taskId: "of-the-client" } });
  const upstream = await take({
    "tools/call": [streamOf(asking, { gate: "answered" }, event(ANSWER))],
  });
  const capabilities = { tasks: { requests: { elicitation: { create: {} } } } };
  const session = await Session.open(upstream.mcp, { capabilities });
  const stream = new EventReader(await session.callTool());
  const question = await stream.message();
  expect(question).toMatchObject({ method: "tasks/result", params: { taskId: "of-the-client" } });
  const answer = { result: { ...ACCEPTED, _meta: related("of-the-client") } };
  await session.answer(question.id, answer);
  expect(await upstream.receivesAnswer("q")).toMatchObject(answer);
  await upstream.open("answered");
  expect(await stream.message()).toMatchObject({ result: RESULT });
});

test("a task under an id that cannot be used is an error", async ({ expect }) => {
  const task = jsonOf({ result: { task: seed("x".repeat(2049)) } });
  const upstream = await take({ "tools/call": [task] });
  const session = await Session.open(upstream.mcp);
  const { error } = await responseIn(await session.callTool("work", { task: {} }));
  expect(error).toMatchObject({ data: { upstream: upstream.slug, reason: "malformed" } });
});

test("a client of an older revision has no tasks: requests for them reach no server", async ({
  expect,
}) => {
  const upstream = await take();
  const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
  for (const method of ["tasks/list", "tasks/get", "tasks/result", "tasks/cancel"]) {
    expect((await ask(session, method, { taskId: OWN })).error?.code).toBe(-32_601);
    expect(await upstream.sent(method)).toEqual([]);
  }
});
