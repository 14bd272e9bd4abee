/**
 * Two users of one server: nothing of one is there for the other, and what is not there is said as
 * of anything that never was. Whoever it belongs to notices nothing.
 */

import { beforeAll, describe, test } from "vitest";

import { PATHS } from "../../src/pages/view/paths.ts";
import type { Json, Reaction } from "../support/scripted-upstream-script.ts";
import { type Headers, modern, post, send, Session } from "../integration/client.ts";
import { EventReader, type Message, responseIn } from "../integration/event-reader.ts";
import { SseSession } from "../integration/sse-client.ts";
import { ANSWER, event, jsonOf, LOG, streamOf, Upstream } from "../integration/upstream.ts";
import { ORIGIN } from "./gateway.ts";
import { as, type Connection, Person } from "./people.ts";
import { Visitor } from "./visitor.ts";

const ALPHA = `${ORIGIN}/mcp/alpha`;
const BETA = `${ORIGIN}/mcp/beta`;
const SSE = `${ORIGIN}/sse/alpha`;
const PING = { jsonrpc: "2.0", id: 5, method: "ping" } as const;

let ann: Person;
let bob: Person;
/** Ann's application, and her session with it. */
let application: Connection;
let session: Session;
/** An event of her session, that can be resumed after. */
let eventId: string;

beforeAll(async () => {
  [ann, bob] = [await Person.signIn(), await Person.signIn()];
  application = await ann.connect();
  session = await sessionOf(application.tokens.access_token);
  const upstream = Upstream.named("alpha");
  await upstream.script({
    server: "dual",
    reactions: { "prompts/get": [streamOf(event(LOG), event(ANSWER))] },
  });
  const stream = new EventReader(await session.request("prompts/get", { name: "mine" }));
  const events = await stream.rest();
  eventId = events.find(({ data }) => data.includes("working"))?.id ?? "";
});

function sessionOf(token: string, path = ALPHA): Promise<Session> {
  return Session.inUse(path, { headers: as(token) });
}

/** Every request that a session id can be used with. @returns the statuses. */
async function attempts(path: string, headers: Headers): Promise<Record<string, number>> {
  const stream = { ...headers, Accept: "text/event-stream" };
  const tried: Record<string, Response> = {
    ping: await post(path, PING, headers),
    ready: await post(path, { jsonrpc: "2.0", method: "notifications/initialized" }, headers),
    call: await post(path, { ...PING, method: "tools/call", params: { name: "theirs" } }, headers),
    answer: await post(path, { jsonrpc: "2.0", id: 1, result: {} }, headers),
    batch: await post(path, [PING, { ...PING, id: 6, method: "tools/list" }], headers),
    stream: await send(path, { headers: stream }),
    resume: await send(path, { headers: { ...stream, "Last-Event-ID": eventId } }),
    delete: await send(path, { method: "DELETE", headers }),
  };
  const statuses: Record<string, number> = {};
  for (const [name, response] of Object.entries(tried)) {
    statuses[name] = response.status;
    if (response.status === 200 && response.headers.get("content-type") === "text/event-stream") {
      await response.body?.cancel();
    } else await response.text();
  }
  return statuses;
}

function all(status: number): Record<string, number> {
  const names = ["ping", "ready", "call", "answer", "batch", "stream", "resume", "delete"];
  return Object.fromEntries(names.map((name) => [name, status]));
}

const ROWS: readonly {
  readonly name: string;
  readonly path?: string;
  readonly token: () => Promise<string>;
  readonly status: number;
}[] = [
  {
    name: "B85, B88: another user",
    token: async () => (await bob.connect()).tokens.access_token,
    status: 404,
  },
  { name: "B85: another user's key", token: async () => (await bob.key()).token, status: 404 },
  {
    name: "another user of the same application",
    token: async () => (await bob.connect({ client: application.client })).tokens.access_token,
    status: 404,
  },
  {
    name: "B86: another application of the same user",
    token: async () => (await ann.connect()).tokens.access_token,
    status: 404,
  },
  { name: "B86: a key of the same user", token: async () => (await ann.key()).token, status: 404 },
  {
    name: "B86: the same application, at another endpoint",
    path: BETA,
    token: async () =>
      (await ann.connect({ client: application.client, path: "/mcp/beta" })).tokens.access_token,
    status: 404,
  },
  {
    name: "B86: the same application, with the token of another endpoint",
    token: async () =>
      (await ann.connect({ client: application.client, path: "/mcp/beta" })).tokens.access_token,
    status: 401,
  },
  { name: "nobody", token: () => Promise.resolve(""), status: 401 },
];

describe("the session of an application does not exist for other applications:", () => {
  test.for(ROWS)("$name: $status", async ({ path = ALPHA, token, status }, { expect }) => {
    const bearer = await token();
    const headers = { "Mcp-Session-Id": session.id, ...(bearer === "" ? {} : as(bearer)) };
    expect(await attempts(path, headers)).toEqual(all(status));
    expect(await responseIn(await session.request("ping"))).toHaveProperty("result");
    expect(await responseIn(await session.request("tools/list"))).toHaveProperty("result");
  });

  test("it stays with the application that is connected again", async ({ expect }) => {
    const { tokens } = await ann.connect({ client: application.client });
    const headers = { "Mcp-Session-Id": session.id, ...as(tokens.access_token) };
    const response = await post(ALPHA, { ...PING, method: "tools/list" }, headers);
    expect(await responseIn(response)).toHaveProperty("result");
  });

  test("B87: a session that never existed, or was deleted, gets the same answer", async ({
    expect,
  }) => {
    const token = application.tokens.access_token;
    const gone = await sessionOf(token);
    expect((await gone.delete()).status).toBe(200);
    for (const id of ["invented", gone.id, session.id.slice(0, -1), `${session.id}A`]) {
      expect(await attempts(ALPHA, { "Mcp-Session-Id": id, ...as(token) })).toEqual(all(404));
    }
  });
});

test("B88: an event id of one session resumes nothing in another", async ({ expect }) => {
  const own = await sessionOf((await bob.connect()).tokens.access_token);
  const response = await own.get({ "Last-Event-ID": eventId });
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(await response.text()).not.toContain("working");
  const theirs = await session.listen(eventId);
  expect(await theirs.message()).toMatchObject({ result: {} });
  await theirs.cancel();
});

test("a session of HTTP+SSE accepts messages of its own application only", async ({ expect }) => {
  const headers = as(application.tokens.access_token);
  const sse = await SseSession.open(SSE, {}, headers);
  const { endpoint } = sse;
  for (const { token, status } of ROWS.filter(({ path }) => path === undefined)) {
    const bearer = await token();
    const response = await post(endpoint, PING, bearer === "" ? {} : as(bearer));
    expect(response.status).toBe(status);
    await response.text();
  }
  // The id of one transport is invalid for the other, also for its owner.
  const id = new URL(endpoint).searchParams.get("sessionId") ?? "";
  expect(await attempts(ALPHA, { "Mcp-Session-Id": id, ...headers })).toEqual(all(404));
  await sse.post({ id: "own", method: "tools/list" });
  expect(await sse.stream.message()).toMatchObject({ id: "own" });
  await sse.stream.cancel();
});

test("2026-07-28 has no state that a request could read of another one", async ({ expect }) => {
  const mine = { headers: as((await ann.key()).token) };
  const theirs = { headers: { ...as((await bob.key()).token), "Mcp-Session-Id": session.id } };
  const listen = { notifications: { toolsListChanged: true } };
  const stream = new EventReader(
    await modern({ mcp: ALPHA }, "subscriptions/listen", listen, { id: "a", ...mine }),
  );
  expect(await stream.message()).toMatchObject({
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": "a" } },
  });
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "a" } };
  const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": cancel.method };
  for (const response of [
    await post(ALPHA, cancel, { ...theirs.headers, ...headers }),
    await modern({ mcp: ALPHA }, "tools/list", {}, { id: "a", ...theirs }),
  ]) {
    expect(response.status).toBeLessThan(300);
    await response.text();
  }
  await stream.silence();
  await stream.cancel();
});

test("a cursor of one user is invalid for the other, and the upstream is not called", async ({
  expect,
}) => {
  const upstream = Upstream.named("beta");
  const page = jsonOf({ result: { prompts: [], nextCursor: "of-ann" } });
  await upstream.script({ server: "dual", reactions: { "prompts/list": [page] } });
  const first = await sessionOf((await ann.key({ path: "/mcp/beta" })).token, BETA);
  const { result } = await responseIn(await first.request("prompts/list"));
  const cursor = result?.["nextCursor"];
  expect(cursor).toMatch(/^[A-Za-z0-9]+\.2\.[A-Za-z0-9_-]{40,}$/);
  const second = await sessionOf((await bob.key({ path: "/mcp/beta" })).token, BETA);
  for (const taken of [cursor, "of-ann"]) {
    const refused = await responseIn(await second.request("prompts/list", { cursor: taken }));
    expect(refused).toHaveProperty("error.code", -32_602);
  }
  await (await first.request("prompts/list", { cursor })).text();
  const asked = (await upstream.sent("prompts/list")).map(({ body }) => body?.params?.["cursor"]);
  // The gateway looks at its servers by itself, without a cursor.
  expect(asked.filter((taken) => taken !== undefined)).toEqual(["of-ann"]);
});

const seed = (taskId: string): Json => ({ taskId, status: "working", ttl: null });
const lasting = (result: Json): readonly Reaction[] => [{ ...jsonOf({ result }), isLasting: true }];

async function ask(from: Session, method: string, params: Json = {}): Promise<Message> {
  return responseIn(await from.request(method, params));
}

async function begin(from: Session): Promise<string> {
  const { result } = await responseIn(await from.callTool("work", { task: {} }));
  return (result as { task: { taskId: string } }).task.taskId;
}

async function list(from: Session, params: Json = {}): Promise<Message["result"]> {
  return (await ask(from, "tasks/list", params)).result;
}

describe("a task of 2025-11-25 of one user is none of another's", () => {
  const RELATED = "io.modelcontextprotocol/related-task";
  const ids = { ann: "t-ann", bob: "t-bob" };
  const upstream = Upstream.named("alpha");
  let mine: Session;
  let theirs: Session;
  /** Each task as its own client knows it. */
  let given: { readonly ann: string; readonly bob: string };

  beforeAll(async () => {
    await upstream.script({
      server: "dual",
      capabilities: { tools: {}, tasks: { list: {}, requests: { tools: { call: {} } } } },
      reactions: {
        "tools/call": [ids.ann, ids.bob].map((id) => jsonOf({ result: { task: seed(id) } })),
        "tasks/get": lasting(seed(ids.ann)),
        "tasks/cancel": lasting(seed(ids.ann)),
        "tasks/result": lasting({
          content: [{ type: "text", text: "of Ann" }],
          _meta: { [RELATED]: { taskId: ids.ann } },
        }),
        "tasks/list": lasting({
          tasks: [ids.ann, ids.bob, "t-before"].map(seed),
          nextCursor: "t-before",
        }),
      },
    });
    mine = await sessionOf((await ann.key()).token);
    theirs = await sessionOf((await bob.key()).token);
    given = { ann: await begin(mine), bob: await begin(theirs) };
  });

  async function saidOfTasks(): Promise<number> {
    const log = await upstream.log();
    return log.filter(({ body }) => body?.method?.startsWith("tasks/")).length;
  }

  test.for(["tasks/get", "tasks/result", "tasks/cancel"])(
    "%s reaches the server for one's own alone",
    async (method, { expect }) => {
      const before = await saidOfTasks();
      const invented = await ask(theirs, method, { taskId: "invented" });
      expect(invented.error?.code).toBe(-32_602);
      for (const taskId of [ids.ann, ids.bob, given.ann, `${given.bob}A`, undefined]) {
        expect((await ask(theirs, method, { taskId })).error).toEqual(invented.error);
      }
      const within = { name: "work", arguments: {}, _meta: { [RELATED]: { taskId: given.ann } } };
      expect((await ask(theirs, "tools/call", within)).error).toEqual(invented.error);
      expect(await saidOfTasks()).toBe(before);

      const { result } = await ask(mine, method, { taskId: given.ann });
      expect(JSON.stringify(result)).toContain(given.ann);
      expect(JSON.stringify(result)).not.toContain(ids.ann);
      expect((await upstream.sent(method)).at(-1)?.body?.params).toMatchObject({ taskId: ids.ann });
    },
  );

  test("tasks/list has one's own alone, and its cursor is no use to another", async ({
    expect,
  }) => {
    const page = await list(mine);
    expect(page).toMatchObject({ tasks: [seed(given.ann)] });
    expect(await list(theirs)).toMatchObject({ tasks: [seed(given.bob)] });
    const cursor = page?.["nextCursor"];
    const before = await saidOfTasks();
    for (const taken of [cursor, "t-before"]) {
      const { error } = await ask(theirs, "tasks/list", { cursor: taken });
      expect(error?.code).toBe(-32_602);
    }
    expect(await saidOfTasks()).toBe(before);
    expect(await list(mine, { cursor })).toMatchObject({ tasks: [seed(given.ann)] });
    const sent = (await upstream.sent("tasks/list")).at(-1);
    expect(sent?.body?.params?.["cursor"]).toBe("t-before");
  });

  test("a change of its status is announced to its own client alone", async ({ expect }) => {
    const method = "notifications/tasks/status";
    const statuses = [ids.ann, ids.bob, "t-before"].map((id) =>
      event({ method, params: seed(id) }),
    );
    const reaction = { ...streamOf(...statuses, event(ANSWER)), isLasting: true } as const;
    await upstream.script({ server: "dual", reactions: { "tools/call": [reaction] } });
    for (const [from, id] of [
      [mine, given.ann],
      [theirs, given.bob],
    ] as const) {
      const stream = new EventReader(await from.callTool());
      expect(await stream.message()).toMatchObject({ method, params: seed(id) });
      expect(await stream.message()).toHaveProperty("result");
    }
  });
});

test("the records of one user are on no page of another", async ({ expect }) => {
  const [mine, theirs] = [await Visitor.as(ann), await Visitor.as(bob)];
  const application = crypto.randomUUID();
  await ann.shard.audit.append(ann.id, "denied", { application });
  expect((await mine.visit(PATHS.account)).html).toContain(application);
  for (const path of [PATHS.account, PATHS.admin, PATHS.logins]) {
    const { html } = await theirs.visit(`${path}?user=${ann.id}`);
    expect(html).not.toContain(application);
  }
  expect((await theirs.visit(PATHS.logins)).status).toBe(403);
});

test("B101: an upstream receives no credentials of the caller", async ({ expect }) => {
  const { token } = await ann.key();
  const secret = crypto.randomUUID();
  const headers = {
    ...as(token),
    ...{ Cookie: `__Host-edgeway-session=${secret}`, "Proxy-Authorization": `Basic ${secret}` },
    ...{
      "X-Forwarded-For": `203.0.113.9, ${secret}`,
      "X-Forwarded-Host": secret,
      "X-Api-Key": secret,
    },
    ...{ "CF-Access-Jwt-Assertion": secret, Forwarded: `for=${secret}`, Via: `1.1 ${secret}` },
  };
  const name = crypto.randomUUID();
  const upstream = Upstream.named("alpha");
  const own = await Session.inUse(ALPHA, { headers });
  await responseIn(await own.callTool(name));
  await (await own.delete()).text();
  const inModern = { ...headers, "Mcp-Session-Id": secret, "Last-Event-ID": secret };
  await responseIn(
    await modern({ mcp: ALPHA }, "tools/call", { name, arguments: {} }, { headers: inModern }),
  );
  const sse = await SseSession.open(SSE, {}, headers);
  await sse.post({ id: 1, method: "tools/call", params: { name, arguments: {} } });
  expect(await sse.stream.message()).toHaveProperty("result");
  await sse.stream.cancel();

  const log = await upstream.log();
  expect(log.filter(({ body }) => body?.params?.["name"] === name)).toHaveLength(3);
  const seen = JSON.stringify(log);
  // The last part of a key may have a `_` in itself.
  const keySecret = token.split("_").slice(3).join("_");
  for (const value of [secret, token, keySecret, own.id, ann.id]) {
    expect(value.length).toBeGreaterThan(8);
    expect(seen).not.toContain(value);
  }
  for (const { headers: sent } of log) {
    for (const header of ["authorization", "cookie", "x-forwarded-for", "forwarded", "origin"]) {
      expect(sent).not.toHaveProperty(header);
    }
  }
});
