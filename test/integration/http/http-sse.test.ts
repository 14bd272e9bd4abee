/** HTTP+SSE of 2024-11-05 at the front door. */

import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, test, vi } from "vitest";

import { streamRequest } from "../../../src/http/client-stream.ts";
import { PATIENCE_MS } from "../bounded.ts";
import { envelope, initializeMessage, post, send, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import {
  claimsOf,
  evict,
  mint,
  NOTHING,
  objectOf,
  sseSessionId,
  storedIn,
  WAYS_TO_LOSE,
} from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import {
  ANSWER,
  event,
  jsonOf,
  methodOf,
  progress,
  RESULT,
  sessionOf,
  streamOf,
  Upstream,
} from "../upstream.ts";

beforeAll(() => setLimits({ lingerSeconds: 5 }));

const PING = { jsonrpc: "2.0", id: 5, method: "ping" } as const;

test("the first event names where to post, on the same origin, with the session's id", async ({
  expect,
}) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const response = await send(upstream.sse, { headers: { Accept: "text/event-stream" } });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  await response.body?.cancel();
  const session = await SseSession.connect(upstream.sse);
  expect(session.endpoint).toMatch(
    new RegExp(`^${upstream.sse}/message\\?sessionId=[\\x21-\\x7e]{32,}$`),
  );
  expect(await upstream.log()).toHaveLength(0);
  await session.stream.cancel();
});

test("every POST is answered with Accepted, and every response arrives on the stream", async ({
  expect,
}) => {
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [streamOf(event(progress(1)), event(ANSWER))] },
  });
  const session = await SseSession.connect(upstream.sse);
  expect(await session.post(initializeMessage("2024-11-05"))).toEqual([202, "Accepted"]);
  expect(await session.stream.message()).toMatchObject({
    id: 0,
    result: { protocolVersion: "2024-11-05", serverInfo: { name: "scripted" } },
  });
  expect(await session.post({ method: "notifications/initialized" })).toEqual([202, "Accepted"]);
  const params = { name: "work", arguments: {}, _meta: { progressToken: 3 } };
  expect(await session.post({ id: "c", method: "tools/call", params })).toEqual([202, "Accepted"]);
  expect(await session.stream.message()).toMatchObject({
    params: { progressToken: 3, progress: 1 },
  });
  expect(await session.stream.message()).toEqual({ jsonrpc: "2.0", id: "c", result: RESULT });
  expect(await session.post(PING)).toEqual([202, "Accepted"]);
  expect(await session.stream.message()).toEqual({ jsonrpc: "2.0", id: 5, result: {} });
  expect(await session.request("no/such")).toMatchObject({ id: 1, error: { code: -32601 } });
  await session.stream.cancel();
});

describe("a request of the newer era is refused, and a ping answered, on the stream", () => {
  const MARK = "sent-by-the-client";
  const params = { _meta: { ...envelope(), mark: MARK }, notifications: {} };
  const REQUESTS = [
    { id: 6, method: "server/discover", params },
    { id: 7, method: "subscriptions/listen", params },
    PING,
  ] as const;
  const ACCEPTED = [202, "Accepted"];
  const ANSWERS = [
    { accepted: ACCEPTED, answer: { id: 6, error: { code: -32601 } } },
    { accepted: ACCEPTED, answer: { id: 7, error: { code: -32601 } } },
    { accepted: ACCEPTED, answer: { id: PING.id, result: {} } },
  ];

  async function answersIn(session: SseSession): Promise<unknown[]> {
    const answers: unknown[] = [];
    for (const request of REQUESTS) {
      const accepted = await session.post(request);
      if (accepted[0] !== 202) return [...answers, { accepted }];
      answers.push({ accepted, answer: await session.stream.message() });
    }
    return answers;
  }

  test.for(["legacy", "sse", "modern"] as const)(
    "before and after initialize, server: %s",
    async (server, { expect }) => {
      const upstream = await Upstream.take({ server });
      const session = await SseSession.connect(upstream.sse);
      expect(await answersIn(session)).toMatchObject(ANSWERS);
      await session.initialize();
      expect(await answersIn(session)).toMatchObject(ANSWERS);
      await session.stream.cancel();
      expect(JSON.stringify(await upstream.log())).not.toContain(MARK);
    },
  );

  test.for(WAYS_TO_LOSE)(
    "also when the session's object $name in between",
    async ({ lose }, { expect }) => {
      const upstream = await Upstream.take({ server: "legacy" });
      const session = await SseSession.connect(upstream.sse);
      const id = { id: sseSessionId(session) };
      expect(await answersIn(session)).toMatchObject(ANSWERS);
      await lose(id);
      expect(await answersIn(session)).toMatchObject(ANSWERS);
      await session.initialize();
      await lose(id);
      expect(await answersIn(session)).toMatchObject(ANSWERS);
      await session.stream.cancel();
    },
  );

  test("in a session of Streamable HTTP in the answer to its POST", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    for (const method of ["server/discover", "subscriptions/listen"]) {
      const response = await session.post({ id: 3, method, params: { mark: MARK } });
      expect(response.status).toBe(200);
      expect(await responseIn(response)).toMatchObject({ id: 3, error: { code: -32601 } });
    }
    expect(JSON.stringify(await upstream.log())).not.toContain(MARK);
  });
});

test("events have no ids, and the stream is kept alive", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await SseSession.open(upstream.sse);
  await session.post(PING);
  expect(await session.stream.next()).toMatchObject({
    id: undefined,
    name: "message",
    retry: undefined,
  });
  await session.stream.silence();
  await session.stream.cancel();
});

test("messages that the server initiates arrive, and its question is answered", async ({
  expect,
}) => {
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: {
      "tools/call": [
        streamOf(event({ id: 77, method: "roots/list" }), { gate: "answered" }, event(ANSWER)),
      ],
    },
  });
  const session = await SseSession.open(upstream.sse, { roots: {} });
  await upstream.send({ method: "notifications/tools/list_changed" });
  expect(await session.stream.message()).toMatchObject({
    method: "notifications/tools/list_changed",
  });

  await session.post({ id: "c", method: "tools/call", params: { name: "work" } });
  const ask = await session.stream.message();
  expect(ask.method).toBe("roots/list");
  expect(await session.post({ id: ask.id, result: { roots: [] } })).toEqual([202, "Accepted"]);
  expect(await upstream.receivesAnswer(77)).toMatchObject({ id: 77, result: { roots: [] } });
  await upstream.open("answered");
  expect(await session.stream.message()).toMatchObject({ id: "c", result: RESULT });
  await session.stream.cancel();
});

describe("refuses", () => {
  test.for([
    { name: "a POST without a session id", query: "", body: PING, status: 400 },
    { name: "an unknown session", query: "?sessionId=nobody", body: PING, status: 404 },
    { name: "a forged session", query: `?sessionId=${"0".repeat(64)}`, body: PING, status: 404 },
    { name: "an empty session id", query: "?sessionId=", body: PING, status: 404 },
  ])("$name with $status", async ({ query, body, status }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await post(`${upstream.sse}/message${query}`, body);
    expect(response.status).toBe(status);
    expect(await responseIn(response)).toHaveProperty("error");
  });

  test.for([
    { name: "a body that is not JSON", body: "{", headers: {}, status: 400, code: -32700 },
    { name: "JSON that is not JSON-RPC", body: {}, headers: {}, status: 400, code: -32600 },
    { name: "an empty array", body: [], headers: {}, status: 400, code: -32600 },
    {
      name: "text/plain",
      body: PING,
      headers: { "Content-Type": "text/plain" },
      status: 415,
      code: -32000,
    },
    { name: "a batch", body: [PING], headers: {}, status: 400, code: -32600 },
    {
      name: "a second initialize",
      body: initializeMessage("2024-11-05", {}, 8),
      headers: {},
      status: 400,
      code: -32600,
    },
    {
      name: "too many bytes",
      body: { ...PING, params: { a: "x".repeat(70_000) } },
      headers: {},
      status: 413,
      code: -32600,
    },
  ])(
    "$name with $status, and the session goes on",
    async ({ body, headers, status, code }, { expect }) => {
      const upstream = await Upstream.take({ server: "legacy" });
      const session = await SseSession.open(upstream.sse);
      const response = await post(session.endpoint, body, headers);
      expect(response.status).toBe(status);
      expect((await responseIn(response)).error?.code).toBe(code);
      expect(await session.request("ping")).toMatchObject({ id: 1, result: {} });
      await session.stream.cancel();
    },
  );

  test("a request before initialize once, and continues", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await SseSession.connect(upstream.sse);
    const [status] = await session.post({ id: 1, method: "tools/list" });
    expect(status).toBe(400);
    await session.post(initializeMessage("2024-11-05"));
    expect(await session.stream.message()).toHaveProperty("result");
    await session.stream.cancel();
  });

  test.for([
    { name: "POST to the stream", path: "", method: "POST", allow: "GET" },
    { name: "DELETE of the stream", path: "", method: "DELETE", allow: "GET" },
    { name: "GET of the sink", path: "/message", method: "GET", allow: "POST" },
  ])("$name with 405", async ({ path, method, allow }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await send(upstream.sse + path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toContain(allow);
    await response.text();
  });

  test("GET that accepts JSON only with 406", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const response = await send(upstream.sse, { headers: { Accept: "application/json" } });
    expect(response.status).toBe(406);
    await response.text();
  });
});

describe("a session", () => {
  test("is served only at its own endpoint", async ({ expect }) => {
    const [here, elsewhere] = [
      await Upstream.take({ server: "legacy" }),
      await Upstream.take({ server: "legacy" }),
    ];
    const session = await SseSession.open(here.sse);
    const id = new URL(session.endpoint, "http://x").searchParams.get("sessionId") ?? "";
    const streamable = await Session.open(here.mcp);
    const wrong = [
      await post(`${elsewhere.sse}/message?sessionId=${id}`, PING),
      await post(here.mcp, PING, { "Mcp-Session-Id": id }),
      await post(`${here.sse}/message?sessionId=${streamable.id}`, PING),
    ];
    for (const response of wrong) {
      expect(response.status).toBe(404);
      await response.text();
    }
    expect(await session.request("ping")).toMatchObject({ result: {} });
    await session.stream.cancel();
  });

  test("ends when its stream is closed, at the gateway and at the upstream", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await SseSession.open(upstream.sse);
    await upstream.receives("GET");
    await session.stream.cancel();
    await expect
      .poll(async () => (await session.post(PING))[0], { timeout: PATIENCE_MS })
      .toBe(404);
    await expect.poll(async () => (await upstream.used()).map(methodOf)).toContain("DELETE");
  });

  test("ends when its stream broke and its client did not reconnect", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await SseSession.open(upstream.sse);
    await upstream.receives("GET");
    const named = { id: sseSessionId(session) };
    // As the platform tells of a holder that is gone without a word.
    await runInDurableObject(await objectOf(named), async (instance, state) => {
      for (const socket of state.getWebSockets()) await instance.webSocketClose(socket, 1006);
    });
    expect((await session.post(PING))[0]).toBe(202);
    await expect
      .poll(async () => (await session.post(PING))[0], { timeout: PATIENCE_MS })
      .toBe(404);
    await upstream.receives("DELETE", 2); // of the introduction, and of the session
    expect(await storedIn(named)).toEqual(NOTHING);
    await session.stream.cancel();
  });

  test("ends when nobody reads its stream, though each look at it is another life", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const other = await SseSession.open(upstream.sse);
    const object = env.SESSIONS.newUniqueId();
    const claims = { ...(await claimsOf(sseSessionId(other))), object: object.toString() };
    const session = { id: await mint(claims) };
    const { webSocket } = await (await objectOf(session)).fetch(streamRequest({ claims }));
    webSocket?.accept();
    // The Worker goes without a word.
    webSocket?.close(1001);
    await evict(session);
    vi.useFakeTimers({ toFake: ["Date"] });
    for (let n = 0; n < 2; n++) {
      vi.setSystemTime(Date.now() + 6000);
      await runDurableObjectAlarm(await objectOf(session));
      await evict(session);
    }
    expect(await storedIn(session)).toEqual(NOTHING);
    vi.useRealTimers();
    await other.stream.cancel();
  });

  test("whose upstream fails initialize gets the error on its stream, and may retry", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { initialize: [{ status: 503 }] },
    });
    const session = await SseSession.connect(upstream.sse);
    await session.post(initializeMessage("2024-11-05"));
    const failed = await session.stream.message();
    expect(failed.error?.data).toEqual({
      upstream: upstream.slug,
      reason: "unreachable",
      status: 503,
    });
    await session.post(initializeMessage("2024-11-05", {}, 1));
    expect(await session.stream.message()).toMatchObject({ id: 1, result: {} });
    await session.stream.cancel();
  });
});

describe("while the handshake is under way", () => {
  const handshake = {
    protocolVersion: "2024-11-05",
    capabilities: {},
    serverInfo: { name: "slow", version: "1" },
  };
  const held = { ...jsonOf({ result: handshake }), heldBy: "handshake" };

  test("a second initialize is refused, and opens no session", async ({ expect }) => {
    const reactions = { initialize: [held, held] };
    const upstream = await Upstream.take({ server: "legacy", reactions });
    const session = await SseSession.connect(upstream.sse);
    const first = session.post(initializeMessage("2024-11-05", {}, 1));
    await upstream.receives("initialize");
    expect((await session.post(initializeMessage("2024-11-05", {}, 2)))[0]).toBe(400);
    await upstream.open("handshake");
    expect((await first)[0]).toBe(202);
    expect(await session.stream.message()).toMatchObject({ id: 1, result: handshake });
    // One to be introduced, and the session's own.
    await upstream.receives("notifications/initialized");
    expect(await upstream.sent("initialize")).toHaveLength(2);
    await session.stream.cancel();
  });

  test("a client that disconnects leaves no session at the upstream", async ({ expect }) => {
    const headers = { ...held.headers, "Mcp-Session-Id": "left-behind" };
    const reactions = { initialize: [{ ...held, headers }] };
    const upstream = await Upstream.take({ server: "legacy", reactions });
    const session = await SseSession.connect(upstream.sse);
    const opening = session.post(initializeMessage("2024-11-05"));
    await upstream.receives("initialize");
    await session.stream.cancel();
    await upstream.open("handshake");
    await opening;
    await expect
      .poll(async () => {
        const log = await upstream.log();
        const opened = log.map((sent) => sent.opened).filter((id) => id !== undefined);
        const deleted = log.filter(({ method }) => method === "DELETE").map(sessionOf);
        return { opened: new Set(opened), deleted: new Set(deleted) };
      })
      .toEqual({ opened: new Set(["left-behind"]), deleted: new Set(["left-behind"]) });
  });
});
