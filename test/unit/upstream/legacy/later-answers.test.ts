/**
 * Answers, calls and events that come when the object has lost its memory, or the session was opened anew: they go to
 * the session that they are of, or nowhere.
 */

import { describe, onTestFinished, test, vi } from "vitest";

import type { Call, Peer } from "../../../../src/protocol/exchange.ts";
import type { JsonRpcRequest, Reply } from "../../../../src/protocol/json-rpc.ts";
import { LegacyConnection } from "../../../../src/upstream/legacy/connection.ts";
import { UpstreamError } from "../../../../src/upstream/upstream-error.ts";
import type { SavedConnection } from "../../../../src/upstream/legacy/saved-connection.ts";
import { type Answer, bodyOf, bytesOf, failureOf, fakeTarget, html, json } from "../fake-target.ts";
import { EVENTS, handshake, sseServer } from "./legacy-servers.ts";

/** Only what fails waits for so long. */
const SOON = { timeout: 20_000 };

const { signal: never } = new AbortController();
const CLIENT = {
  revision: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "c", version: "1" },
} as const;
const QUESTION: JsonRpcRequest = {
  ...{ jsonrpc: "2.0", id: 0, method: "elicitation/create" },
  params: { message: "?" },
};
const REPLY = { result: { action: "accept" } };

interface Asked {
  /** The session in which the question came. */
  readonly saved: SavedConnection;
  readonly resumeToken: string;
  /** What a later life of the connection sends with the answer. @returns the sessions that got it. */
  readonly answer: (saved: SavedConnection) => Promise<readonly (string | null)[]>;
}

/** A server that counts its sessions, and the requests in each: the first question of each has the id 0. */
async function askedAt(hasSessions: boolean): Promise<Asked> {
  let count = 0;
  const answered: (string | null)[] = [];
  const serve: Answer = ({ method, headers, body }) => {
    if (method !== "POST") return new Response(null, { status: 405 });
    const { id, method: called } = body;
    if (called === "initialize") {
      count += 1;
      const own = hasSessions ? { headers: { "Mcp-Session-Id": `session-${count}` } } : {};
      return json({ jsonrpc: "2.0", id, result: handshake }, own);
    }
    if (called === "tools/call")
      return new Response(bodyOf([bytesOf(`data: ${JSON.stringify(QUESTION)}\n\n`)]), {
        headers: EVENTS,
      });
    if (id === 0) answered.push(headers.get("mcp-session-id"));
    return new Response(null, { status: 202 });
  };
  const target = fakeTarget(serve, { transport: "streamable-http" });
  const states: SavedConnection[] = [];
  const tokens: (string | undefined)[] = [];
  const peer: Peer = {
    notify: () => Promise.resolve(),
    ask: (_question, _withdrawn, resumeToken) => {
      tokens.push(resumeToken);
      return new Promise(() => undefined);
    },
  };
  const open = (saved?: SavedConnection): LegacyConnection =>
    new LegacyConnection({
      ...{ target, unsolicited: peer, save: (state) => void states.push(state), saved },
      client: CLIENT,
    });
  await failureOf(open().request({ method: "tools/call", params: { name: "a" } }, peer, never));
  const [saved] = states;
  const [resumeToken] = tokens;
  if (saved === undefined || resumeToken === undefined) throw new Error("Nothing was asked");
  const answer: Asked["answer"] = async (state) => {
    if (!(await open(state).answer(resumeToken, REPLY))) throw new Error("It was not sent");
    return answered.splice(0);
  };
  return { saved, resumeToken, answer };
}

describe("an answer of a later life", () => {
  test("goes to the session in which the question came", async ({ expect }) => {
    const { saved, answer } = await askedAt(true);
    expect(await answer(saved)).toEqual(["session-1"]);
  });

  test("goes to no other session, where the same id is another question", async ({ expect }) => {
    const { saved, answer } = await askedAt(true);
    expect(await answer({ ...saved, sessionId: "session-2" })).toEqual([]);
  });

  test("goes to a server that has no sessions", async ({ expect }) => {
    const { saved, answer } = await askedAt(false);
    expect(await answer(saved)).toEqual([null]);
  });

  test("goes to no other stream of HTTP+SSE, which is the session", async ({ expect }) => {
    const posted: unknown[] = [];
    const serve = sseServer(() => html(404));
    const target = fakeTarget(
      (seen) => {
        if (seen.method === "POST") posted.push(seen.body["method"] ?? seen.body["id"]);
        return serve(seen);
      },
      { transport: "sse" },
    );
    const { resumeToken } = await askedAt(true);
    const connection = new LegacyConnection({
      ...{ target, save: () => undefined },
      unsolicited: { notify: () => Promise.resolve(), ask: () => Promise.resolve(REPLY) },
      client: CLIENT,
    });
    await connection.open();
    expect(await connection.answer(resumeToken, REPLY)).toBe(true);
    expect(posted).toEqual(["initialize"]);
  });
});

const busyFor = (ms: number, status: number): Answer => {
  let until: number | undefined;
  return () => {
    until ??= Date.now() + ms;
    return new Response(null, { status: Date.now() < until ? status : 202 });
  };
};
const silent: Answer = ({ signal }) =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
const offline: Answer = () => {
  throw new UpstreamError("fake", "offline", "is not connected");
};
const refusing: Answer = () => new Response(null, { status: 400 });

describe("an answer", () => {
  test.for([
    { name: "that finds the server busy", answer: busyFor(2000, 429), attempts: 6, isOver: true },
    { name: "that finds it restarting", answer: busyFor(2000, 503), attempts: 6, isOver: true },
    {
      name: "that finds it busy for a minute",
      answer: busyFor(60_000, 429),
      attempts: 8,
      isOver: false,
    },
    { name: "that the server takes no notice of", answer: silent, attempts: 1, isOver: false },
    { name: "to a server that is not connected", answer: offline, attempts: 1, isOver: false },
    { name: "that the server refuses", answer: refusing, attempts: 1, isOver: true },
  ])("$name is over: $isOver", async ({ answer, attempts, isOver }, { expect }) => {
    const { saved, resumeToken } = await askedAt(true);
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let count = 0;
    const target = fakeTarget((seen) => {
      count += 1;
      return answer(seen);
    });
    const connection = new LegacyConnection({
      ...{ target, saved, save: () => undefined, client: CLIENT },
      unsolicited: { notify: () => Promise.resolve(), ask: () => Promise.resolve(REPLY) },
    });
    const answered = connection.answer(resumeToken, REPLY);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([await answered, count]).toEqual([isOver, attempts]);
  });
});

/** A server that forgets its first session, whose streams go on; in each, its first question has the id 0. */
class Forgetful {
  /** The questions' answers, each with the session in which it came. */
  readonly answered: unknown[] = [];
  /** The event after which each standalone stream was opened. */
  readonly listenedAfter: (string | null)[] = [];
  readonly asked: ((reply: Reply) => void)[] = [];
  readonly tokens: (string | undefined)[] = [];
  readonly states: SavedConnection[] = [];
  /** The places in the standalone stream that were noted. */
  readonly primed: (string | undefined)[] = [];
  readonly notices: Call[] = [];
  readonly #streams = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
  #sessions = 0;

  readonly peer: Peer = {
    notify: (notice) => Promise.resolve(void this.notices.push(notice)),
    ask: (_question, _withdrawn, resumeToken) => {
      this.tokens.push(resumeToken);
      return new Promise((resolve) => this.asked.push(resolve));
    },
    primed: (resumeToken) => void this.primed.push(resumeToken),
  };

  readonly #target = fakeTarget(
    ({ method, headers, body }) => {
      const session = headers.get("mcp-session-id") ?? "";
      const { id, method: called } = body;
      if (called === "initialize") {
        this.#sessions += 1;
        const own = { "Mcp-Session-Id": `session-${this.#sessions}` };
        return json({ jsonrpc: "2.0", id, result: handshake }, { headers: own });
      }
      if (method === "GET") {
        this.listenedAfter.push(headers.get("last-event-id"));
        return new Response(null, { status: 405 });
      }
      if (called === "tools/call") {
        if (this.#streams.has(session)) return html(404);
        const stream = new ReadableStream<Uint8Array>({
          start: (controller) => void this.#streams.set(session, controller),
        });
        return new Response(stream, { headers: EVENTS });
      }
      if (id === 0) this.answered.push([session, body["result"]]);
      return new Response(null, { status: 202 });
    },
    { transport: "streamable-http" },
  );

  open(saved?: SavedConnection): LegacyConnection {
    return new LegacyConnection({
      ...{ target: this.#target, unsolicited: this.peer, saved },
      save: (state) => void this.states.push(state),
      client: CLIENT,
    });
  }

  /** Two calls, which last as long as the test: the second one finds the session of the first one forgotten. */
  async repaired(): Promise<LegacyConnection> {
    const connection = this.open();
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const call = { method: "tools/call", params: { name: "a" } };
    for (const session of ["session-1", "session-2"]) {
      void failureOf(connection.request(call, this.peer, leaving.signal));
      await vi.waitUntil(() => this.#streams.has(session), SOON);
    }
    return connection;
  }

  /** Asks on the stream of the call in this session. */
  async ask(session: string): Promise<void> {
    const count = this.asked.length;
    const text = `id: e1\ndata: ${JSON.stringify(QUESTION)}\n\n`;
    this.#streams.get(session)?.enqueue(bytesOf(text));
    await vi.waitUntil(() => this.asked.length > count, SOON);
  }

  async receivesAnswers(count: number): Promise<unknown> {
    await vi.waitUntil(() => this.answered.length >= count, SOON);
    return this.answered;
  }
}

describe("after a repair, while the stream of a call goes on in the session before", () => {
  test("each question is answered in its own session, though both have the same id", async ({
    expect,
  }) => {
    const server = new Forgetful();
    await server.repaired();
    await server.ask("session-1");
    await server.ask("session-2");
    server.asked[0]?.({ result: { to: "the first" } });
    expect(await server.receivesAnswers(1)).toEqual([["session-1", { to: "the first" }]]);
    server.asked[1]?.({ result: { to: "the second" } });
    expect(await server.receivesAnswers(2)).toContainEqual(["session-2", { to: "the second" }]);
  });

  test("a later life does not take up that call in the session of now", async ({ expect }) => {
    const server = new Forgetful();
    await server.repaired();
    await server.ask("session-1");
    const [token] = server.tokens;
    const later = server.open(server.states.at(-1));
    const peer: Peer = { notify: () => Promise.resolve(), ask: () => Promise.resolve(REPLY) };
    expect(await failureOf(later.resume(token, peer, never))).toMatchObject({ failure: "lost" });
    expect(server.listenedAfter).toEqual([]);
  });

  test("the standalone stream is not resumed after an event of that session", async ({
    expect,
  }) => {
    const server = new Forgetful();
    await server.repaired();
    await server.ask("session-1");
    await server.ask("session-2");
    for (const token of server.tokens) {
      const later = server.open(server.states.at(-1));
      await later.listen(token);
      await later.standing;
      const watched = await later.watched(token);
      expect(watched?.lastEventId ?? null).toBe(server.listenedAfter.at(-1));
    }
    expect(server.listenedAfter).toEqual([null, "e1"]);
  });
});

test("a task whose result an earlier life has waited for is cancelled with that request, and answers name it", async ({
  expect,
}) => {
  const { saved } = await askedAt(true);
  const posted: unknown[] = [];
  const target = fakeTarget(({ body }) => {
    posted.push(body);
    return body["method"] === "tasks/cancel"
      ? json({ jsonrpc: "2.0", id: body["id"], result: {} })
      : new Response(null, { status: 202 });
  });
  const connection = new LegacyConnection({
    ...{ target, saved, save: () => undefined, client: CLIENT },
    unsolicited: { notify: () => Promise.resolve(), ask: () => Promise.resolve(REPLY) },
  });
  const token = JSON.stringify({ request: "r-1", lastEventId: "e1", ask: 0, task: "t-1" });
  await connection.answer(token, REPLY);
  await connection.abandon(token, "why");
  const _meta = { "io.modelcontextprotocol/related-task": { taskId: "t-1" } };
  expect(posted).toMatchObject([
    { id: 0, result: { ...REPLY.result, _meta } },
    { method: "notifications/cancelled", params: { requestId: "r-1", reason: "why" } },
    { method: "tasks/cancel", params: { taskId: "t-1" } },
  ]);
});

test("a question of an earlier life that the standalone stream repeats is not asked again", async ({
  expect,
}) => {
  const server = new Forgetful();
  await server.repaired();
  await server.ask("session-2");
  const [resumeToken = ""] = server.tokens;
  const later = server.open(server.states.at(-1));
  const leaving = new AbortController();
  const answer = Promise.withResolvers<Reply>();
  const resumed = later.resume(resumeToken, server.peer, leaving.signal, [
    { resumeToken, wait: () => answer.promise },
  ]);
  void failureOf(resumed);
  const repeated = { parsed: { kind: "request", message: QUESTION }, lastEventId: "g1" } as const;
  await later.receive(repeated);
  answer.resolve(REPLY);
  await server.receivesAnswers(1);
  await later.receive({ ...repeated, lastEventId: "g2" });
  expect([server.asked.length, server.answered]).toEqual([1, [["session-2", REPLY.result]]]);
  leaving.abort();
});

describe("the questions and the place that a watch brings", () => {
  test.for([
    ["of the session of now are taken", { sessionId: "session-2" }, 1],
    ["of the session before are not", { sessionId: "session-1" }, 0],
    ["are taken where its Worker does not say of which", {}, 1],
  ] as const)("%s", async ([, session, count], { expect }) => {
    const server = new Forgetful();
    const connection = await server.repaired();
    await connection.receive({ parsed: { kind: "request", message: QUESTION }, ...session });
    await connection.receive({ lastEventId: "e9", ...session });
    expect([server.asked.length, server.primed.length]).toEqual([count, count]);
  });
});

describe("a question without an event id, which a watch hands in again", () => {
  const parsed = { kind: "request", message: QUESTION } as const;
  const watched = { parsed, sessionId: "session-2" };

  test("is asked once, in this life and in the next", async ({ expect }) => {
    const server = new Forgetful();
    const connection = await server.repaired();
    await connection.receive(watched);
    const known = server.tokens.flatMap((token) => token ?? []);
    await connection.receive({ ...watched, isRepeated: true, known });
    await server.open(server.states.at(-1)).receive({ ...watched, isRepeated: true, known });
    expect([server.asked.length, server.answered]).toEqual([1, []]);
  });

  test("is asked when none of the same id is known of its session", async ({ expect }) => {
    const server = new Forgetful();
    const connection = await server.repaired();
    await server.ask("session-1");
    const known = [...server.tokens.flatMap((token) => token ?? []), '{"ask":1}', '{"ask":"0"}'];
    await connection.receive({ ...watched, isRepeated: true, known });
    expect([server.asked.length, server.answered]).toEqual([2, []]);
  });
});

test("what comes on two watches, while one takes over from the other, is taken once, however much it is", async ({
  expect,
}) => {
  const server = new Forgetful();
  const connection = await server.repaired();
  for (let watch = 0; watch < 2; watch++) {
    for (let n = 0; n < 1000; n++) {
      const message = { jsonrpc: "2.0", method: "com.example/n", params: { n } } as const;
      const parsed = { kind: "notification", message } as const;
      await connection.receive({ parsed, lastEventId: `e${n}` });
    }
  }
  expect(server.notices.map(({ params }) => params?.["n"])).toEqual(
    Array.from({ length: 1000 }, (_, n) => n),
  );
});
