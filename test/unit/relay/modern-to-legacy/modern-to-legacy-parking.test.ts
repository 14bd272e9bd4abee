/** Calls that outlive the memory of their holder: the rows that are kept, for how long, and for which client. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { ParkedCalls } from "../../../../src/relay/modern-to-legacy/parked-calls.ts";
import { Parking } from "../../../../src/relay/modern-to-legacy/parking.ts";
import type { RoundResult } from "../../../../src/relay/modern-to-legacy/bridged-call.ts";
import { readResumeToken } from "../../../../src/upstream/legacy/resume-token.ts";
import type { OpenQuestion } from "../../../../src/protocol/exchange.ts";
import type { JsonObject, Reply } from "../../../../src/protocol/json-rpc.ts";
import { accept, AskingServer, DONE, form, pass, Visitor } from "./bridged-call-world.ts";
import { type SqlFixture, withSql } from "../../lib/sql-fixture.ts";

const PARKED_MS = 300_000;
/** A resume token that resumes a stream, and one that only answers. */
const RESUMABLE = JSON.stringify({ request: "1", lastEventId: "e1", ask: "a1" });
const BARE = JSON.stringify({ request: "1", ask: "a1" });

/** The lives of one holder, over the same rows. */
class World {
  readonly fixture: SqlFixture;
  /** The messages to the server beside its requests. */
  readonly sent: unknown[] = [];
  /** The resume tokens that calls were resumed by. */
  readonly resumed: unknown[] = [];
  server = new AskingServer();
  maxParked = 10;
  /** Resolves when the server has the answers. */
  delivered: Promise<void> = Promise.resolve();
  parking: Parking;
  /** Aborted when the server has forgotten the session. */
  #withdrawn = new AbortController();
  readonly #lane = {
    sessionId: "s",
    standaloneToken: undefined,
    isOfSession: (resumeToken: string | undefined): boolean => {
      const { session = this.#lane.sessionId } = readResumeToken(resumeToken ?? "");
      return session === this.#lane.sessionId;
    },
    answer: (resumeToken: string, reply: Reply): Promise<void> => {
      this.sent.push([resumeToken, reply]);
      return Promise.resolve();
    },
    abandon: (resumeToken: string): Promise<void> => {
      this.sent.push(["forsake", resumeToken]);
      return Promise.resolve();
    },
  };

  constructor(fixture: SqlFixture) {
    this.fixture = fixture;
    this.parking = this.#live();
  }

  /** The server has forgotten the session, and there is another. */
  forget(): void {
    this.#lane.sessionId = "another";
    this.#withdrawn.abort();
    this.#withdrawn = new AbortController();
  }

  /** The memory is lost; the rows are not. */
  restart(): void {
    this.server = new AskingServer();
    this.parking = this.#live();
  }

  #live(): Parking {
    return new Parking({
      slug: "fake",
      calls: new ParkedCalls(this.fixture.sql),
      upstreamSession: this.#lane,
      ...{ maxParked: this.maxParked, parkedMs: PARKED_MS, gatherMs: 50, maxQuestionBytes: 1e6 },
      now: () => this.fixture.clock.now,
      onChange: () => undefined,
    });
  }

  /** A call that is asked something, and parked. @returns its name. */
  async park(resumeToken = RESUMABLE): Promise<string> {
    const { server, parking } = this;
    const { exchange, call } = parking.begin(server.run);
    const turn = call.start(new Visitor());
    void server.peer.ask(form(), new AbortController().signal, resumeToken);
    await pass();
    const asked = await turn;
    if (asked.kind !== "asked") throw new Error(`Not asked: ${JSON.stringify(asked)}`);
    return exchange;
  }

  back(
    exchange: string,
    round: number,
    responses: JsonObject,
    visitor = new Visitor(),
  ): Promise<RoundResult> {
    return this.parking.resumeRound({
      ...{ exchange, round, responses, downstream: visitor },
      resume: ({ resumeToken }) => {
        this.resumed.push(resumeToken);
        return (peer, signal, asked) => {
          for (const question of asked) void this.#answered(question);
          return this.server.run(peer, signal, asked);
        };
      },
    }).result;
  }

  /** Sends the answer to a question from before a restart, as the exchange of a resumed call does. */
  async #answered({ resumeToken, wait }: OpenQuestion): Promise<void> {
    const { signal } = this.#withdrawn;
    const reply = await wait(signal, this.delivered);
    if (!signal.aborted) this.sent.push([resumeToken, reply]);
  }
}

function world(act: (world: World) => Promise<void>): Promise<void> {
  return withSql((fixture) => act(new World(fixture)));
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a round is stored under the keys that earlier versions read", async ({ expect }) =>
  world(async (w) => {
    await w.park();
    const { sql } = w.fixture;
    const [facts] = sql.exec<{ facts: string }>("SELECT facts FROM parked_calls_1");
    const [text] = sql.exec<{ data: string }>("SELECT data FROM parked_texts_1");
    expect(Object.keys(JSON.parse(text?.data ?? "") as object)).toEqual([
      ...["round", "questions", "tickets", "ticket", "asked"],
    ]);
    expect(Object.keys(JSON.parse(facts?.facts ?? "") as object).toSorted()).toEqual([
      ...["exchange", "isAnswered", "isResumable", "round", "sessionId"],
    ]);
  }));

describe("a call that was never parked", () => {
  test("leaves no row", async ({ expect }) =>
    world(async ({ parking, server, fixture }) => {
      const { call } = parking.begin(server.run);
      const turn = call.start(new Visitor());
      server.end();
      await turn;
      expect([
        ...fixture.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'parked%'"),
      ]).toEqual([]);
      expect(parking.dueAt).toBe(Infinity);
      expect(parking.isIdle).toBe(true);
    }));
});

describe("after the memory was lost, a parked call", () => {
  test("is resumed at its server's position, and answered with the server's result", async ({
    expect,
  }) =>
    world(async (w) => {
      const exchange = await w.park();
      w.restart();
      const turn = w.back(exchange, 1, { r1: accept({ n: 1 }) });
      expect(w.resumed).toEqual([RESUMABLE]);
      await pass(0);
      expect(w.sent).toEqual([[RESUMABLE, { result: accept({ n: 1 }) }]]);
      w.server.end();
      expect(await turn).toEqual({ kind: "over", reply: DONE });
    }));

  test("is resumed once, however often its client comes back", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      w.restart();
      const turns = [1, 2, 3].map((n) => w.back(exchange, 1, { r1: accept({ n }) }));
      w.server.end();
      for (const turn of turns) expect(await turn).toEqual({ kind: "over", reply: DONE });
      expect(w.resumed).toHaveLength(1);
      expect(w.sent).toEqual([[RESUMABLE, { result: accept({ n: 1 }) }]]);
    }));

  test("asks the unanswered questions again, and can be lost again then", async ({ expect }) =>
    world(async (w) => {
      const { server, parking } = w;
      const { exchange, call } = parking.begin(server.run);
      const turn = call.start(new Visitor());
      const { signal } = new AbortController();
      void server.peer.ask(form("a"), signal, RESUMABLE);
      void server.peer.ask(form("b"), signal, RESUMABLE.replace("a1", "a2"));
      await pass();
      await turn;
      w.restart();
      const second = w.back(exchange, 1, { r1: accept() });
      await pass();
      expect(await second).toEqual({ kind: "asked", round: 2, questions: { r2: form("b") } });
      w.restart();
      // The answers to the first round were taken in an earlier life.
      expect(await w.back(exchange, 1, { r1: accept() })).toEqual(await second);
      expect(w.resumed).toHaveLength(1);
      const third = w.back(exchange, 2, { r2: accept() });
      w.server.end();
      expect(await third).toEqual({ kind: "over", reply: DONE });
      expect(w.sent.map((one) => (one as unknown[])[0])).toEqual([
        RESUMABLE,
        RESUMABLE.replace("a1", "a2"),
      ]);
    }));

  describe("whose next round was written down before the server had an answer,", () => {
    const [A, B] = [RESUMABLE, RESUMABLE.replace("a1", "a2")];
    const GIVEN = { result: accept({ of: "a" }) };

    /** Two questions, of which the client answers the first. */
    async function asks(w: World, isDelivered: boolean): Promise<string> {
      const { server, parking } = w;
      const { exchange, call } = parking.begin(server.run);
      const turn = call.start(new Visitor());
      const { signal } = new AbortController();
      const { promise: delivered, resolve } = Promise.withResolvers<void>();
      void server.peer.ask(form("a"), signal, A, delivered).then(() => isDelivered && resolve());
      void server.peer.ask(form("b"), signal, B);
      await pass();
      await turn;
      const second = w.back(exchange, 1, { r1: GIVEN.result });
      await pass();
      if ((await second).kind !== "asked") throw new Error("Not asked on");
      return exchange;
    }

    test("sends it in the next life, and in each until the server has it", async ({ expect }) =>
      world(async (w) => {
        const exchange = await asks(w, false);
        w.delivered = new Promise(() => undefined);
        w.restart();
        const third = w.back(exchange, 2, { r2: accept() });
        await pass(0);
        expect(w.sent).toEqual([
          [A, GIVEN],
          [B, { result: accept() }],
        ]);
        const C = RESUMABLE.replace("a1", "a3");
        void w.server.peer.ask(form("c"), new AbortController().signal, C);
        await pass();
        expect(await third).toMatchObject({ kind: "asked", round: 3 });
        const sent = w.sent.splice(0);
        w.restart();
        void w.back(exchange, 3, { r3: accept() });
        await pass(0);
        expect(w.sent).toEqual([...sent, [C, { result: accept() }]]);
      }));

    test("does not send it again once the server has it", async ({ expect }) =>
      world(async (w) => {
        const exchange = await asks(w, true);
        w.restart();
        void w.back(exchange, 2, { r2: accept() });
        await pass(0);
        expect(w.sent).toEqual([[B, { result: accept() }]]);
      }));

    test("sends it before the call is cancelled, where nobody comes back", async ({ expect }) =>
      world(async (w) => {
        await asks(w, false);
        w.restart();
        w.fixture.clock.now += PARKED_MS;
        w.parking.wake();
        await pass(0);
        expect(w.sent).toMatchObject([
          [A, GIVEN],
          [B, { error: {} }],
          ["forsake", B],
        ]);
      }));
  });

  test("numbers its next question after those that there were", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      w.restart();
      const turn = w.back(exchange, 1, { r1: accept() });
      w.server.ask(form("next"));
      await pass();
      expect(await turn).toEqual({ kind: "asked", round: 2, questions: { r2: form("next") } });
    }));

  test("is not mixed up with those that are parked now", async ({ expect }) =>
    world(async (w) => {
      const before = await w.park();
      w.restart();
      const after = await w.park();
      const { server } = w;
      w.server = new AskingServer();
      const turns = [w.back(before, 1, { r1: accept() }), w.back(after, 1, { r1: accept() })];
      w.server.end({ result: { of: "before" } });
      server.end({ result: { of: "after" } });
      expect(await Promise.all(turns)).toMatchObject([
        { reply: { result: { of: "before" } } },
        { reply: { result: { of: "after" } } },
      ]);
      w.restart();
      expect(await w.back(before, 1, {})).toMatchObject({ reply: { result: { of: "before" } } });
    }));

  test("without a position to resume from is ended with one error, and cancelled at the server", async ({
    expect,
  }) =>
    world(async (w) => {
      const exchange = await w.park(BARE);
      w.restart();
      await pass(0);
      expect(w.sent).toMatchObject([
        [BARE, { error: { code: -32603 } }],
        ["forsake", BARE],
      ]);
      const turn = await w.back(exchange, 1, { r1: accept() });
      expect(turn).toMatchObject({
        kind: "over",
        reply: { error: { code: -32603, data: { upstream: "fake", reason: "lost" } } },
      });
      expect(await w.back(exchange, 1, { r1: accept() })).toEqual(turn);
      expect(w.resumed).toEqual([]);
      expect(w.sent).toHaveLength(2);
    }));

  test("of a session that the server has forgotten is ended with one error", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      w.forget();
      w.restart();
      const turn = await w.back(exchange, 1, { r1: accept() });
      expect(turn).toMatchObject({ kind: "over", reply: { error: { data: { reason: "lost" } } } });
      expect(w.resumed).toEqual([]);
    }));

  test("whose answers were taken sends those again in each life, and no others", async ({
    expect,
  }) =>
    world(async (w) => {
      const exchange = await w.park();
      void w.back(exchange, 1, { r1: accept({ n: 1 }) });
      for (const n of [2, 3]) {
        w.restart();
        void w.back(exchange, 1, { r1: accept({ n }) });
        await pass(0);
        expect(w.sent.splice(0)).toEqual([[RESUMABLE, { result: accept({ n: 1 }) }]]);
      }
      const turn = w.back(exchange, 1, {});
      w.server.end();
      expect(await turn).toEqual({ kind: "over", reply: DONE });
    }));
});

describe("the result of a call is kept", () => {
  const REPLY: Reply = {
    result: { content: [{ type: "text", text: "é\u0000😀".repeat(400_000) }] },
  };

  test("for a client that was not there, over a restart, and whatever it is", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      w.server.end(REPLY);
      await pass(0);
      expect(w.parking.isIdle).toBe(true);
      expect(await w.back(exchange, 1, {})).toEqual({ kind: "over", reply: REPLY });
      w.restart();
      expect(await w.back(exchange, 1, { r1: accept() })).toEqual({ kind: "over", reply: REPLY });
    }));

  test("and so is the reply to every round", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      for (let round = 1; round < 4; round++) {
        const turn = w.back(exchange, round, { [`r${round}`]: accept() });
        w.server.ask(form(`after ${round}`));
        await pass();
        await turn;
      }
      w.server.end();
      await pass(0);
      w.restart();
      for (let round = 1; round < 4; round++) {
        expect(await w.back(exchange, round, {})).toEqual({
          ...{ kind: "asked", round: round + 1 },
          questions: { [`r${round + 1}`]: form(`after ${round}`) },
        });
      }
      expect(await w.back(exchange, 4, {})).toEqual({ kind: "over", reply: DONE });
      expect(await w.back(exchange, 5, {})).toMatchObject({ kind: "refused" });
    }));

  test("until the client is no longer expected back", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      w.server.end();
      await pass(0);
      const { clock, rowsIn } = w.fixture;
      expect(w.parking.dueAt).toBe(clock.now + PARKED_MS);
      clock.now += PARKED_MS;
      expect(await w.back(exchange, 1, {})).toMatchObject({ kind: "refused" });
      w.parking.wake();
      expect(w.parking.dueAt).toBe(Infinity);
      expect([rowsIn("parked_calls_1"), rowsIn("parked_texts_1")]).toEqual([0, 0]);
    }));

  test("of no more calls than may be parked: the oldest go first", async ({ expect }) =>
    world(async (w) => {
      w.maxParked = 2;
      w.restart();
      const exchanges: string[] = [];
      for (let n = 0; n < 3; n++) {
        w.server = new AskingServer();
        exchanges.push(await w.park());
        w.server.end();
        await pass(0);
      }
      const turns = await Promise.all(exchanges.map((exchange) => w.back(exchange, 1, {})));
      expect(turns.map(({ kind }) => kind)).toEqual(["refused", "over", "over"]);
    }));
});

describe("a client that never comes back", () => {
  test("costs the server an error, and its call", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      const question = w.server.ask(form());
      w.fixture.clock.now += PARKED_MS - 1;
      w.parking.wake();
      expect(w.parking.isIdle).toBe(false);
      w.fixture.clock.now += 1;
      w.parking.wake();
      await pass(1);
      expect(question.replies).toMatchObject([{ error: { code: -32603 } }]);
      expect(w.server.cancelled).toBeDefined();
      expect(w.parking.isIdle).toBe(true);
      expect(w.fixture.rowsIn("parked_calls_1")).toBe(0);
      const turn = await w.back(exchange, 1, { r1: accept() });
      expect(turn).toHaveProperty("sentence", expect.stringContaining("Call again"));
    }));

  test("also after a restart", async ({ expect }) =>
    world(async (w) => {
      await w.park();
      w.restart();
      w.fixture.clock.now += PARKED_MS;
      w.parking.wake();
      await pass(0);
      expect(w.sent).toMatchObject([
        [RESUMABLE, { error: { code: -32603 } }],
        ["forsake", RESUMABLE],
      ]);
      expect(w.parking.dueAt).toBe(Infinity);
    }));

  test("but one that is there keeps its call for as long as it takes", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      const turn = w.back(exchange, 1, { r1: accept() });
      w.fixture.clock.now += 10 * PARKED_MS;
      expect(w.parking.dueAt).toBe(Infinity);
      w.parking.wake();
      w.server.end();
      expect(await turn).toEqual({ kind: "over", reply: DONE });
      // It may not have received the result.
      w.restart();
      expect(await w.back(exchange, 1, {})).toEqual({ kind: "over", reply: DONE });
    }));

  test("and one whose connection went with the memory is waited for anew", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      void w.back(exchange, 1, { r1: accept() });
      w.fixture.clock.now += 10 * PARKED_MS;
      w.restart();
      w.parking.wake();
      const turn = w.back(exchange, 1, { r1: accept() });
      w.server.end();
      expect(await turn).toEqual({ kind: "over", reply: DONE });
    }));

  test("once: its call ends in time, however often the memory goes", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      void w.back(exchange, 1, { r1: accept() });
      w.restart();
      w.fixture.clock.now += PARKED_MS;
      w.restart();
      w.parking.wake();
      await pass(0);
      expect(w.sent).toMatchObject([
        [RESUMABLE, { error: { code: -32603 } }],
        ["forsake", RESUMABLE],
      ]);
      expect(w.parking.dueAt).toBe(Infinity);
    }));

  test("and once more after it was there again", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      for (let n = 0; n < 2; n++) {
        void w.back(exchange, 1, { r1: accept() });
        w.fixture.clock.now += 10 * PARKED_MS;
        w.restart();
        w.parking.wake();
      }
      const turn = w.back(exchange, 1, { r1: accept() });
      w.server.end();
      expect(await turn).toEqual({ kind: "over", reply: DONE });
    }));
});

test("a call that runs in a session before the present one is not taken up after a restart", async ({
  expect,
}) =>
  world(async (w) => {
    const exchange = await w.park(
      JSON.stringify({ request: "1", lastEventId: "e1", ask: "a1", session: "before" }),
    );
    w.restart();
    expect(await w.back(exchange, 1, { r1: accept() })).toMatchObject({
      reply: { error: { data: { reason: "lost" } } },
    });
    expect([w.resumed, w.sent]).toEqual([[], []]);
  }));

describe("when its sessions are closed, a call", () => {
  test("of an earlier life is over at once, and cancelled at the server", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      w.restart();
      const ended = w.parking.end();
      // What has followed finds it in the rows, in the same turn.
      const { sent } = w;
      w.restart();
      expect(await w.back(exchange, 1, { r1: accept() })).toMatchObject({
        reply: { error: { data: { reason: "lost" } } },
      });
      await ended;
      expect(w.resumed).toEqual([]);
      expect(sent).toMatchObject([
        [RESUMABLE, { error: { code: -32603 } }],
        ["forsake", RESUMABLE],
      ]);
    }));

  test("that is over keeps its result", async ({ expect }) =>
    world(async (w) => {
      const exchange = await w.park();
      w.server.end();
      await pass(0);
      await w.parking.end();
      expect(await w.back(exchange, 1, {})).toEqual({ kind: "over", reply: DONE });
    }));
});

describe("in a session of another call, a call of an earlier one", () => {
  test("sends nothing when it falls due", async ({ expect }) =>
    world(async (w) => {
      await w.park();
      w.restart();
      w.forget();
      w.fixture.clock.now += PARKED_MS;
      w.parking.wake();
      await pass(0);
      expect(w.sent).toEqual([]);
      expect(w.fixture.rowsIn("parked_calls_1")).toBe(0);
      expect(w.parking.isIdle).toBe(true);
    }));

  test.for([RESUMABLE, BARE])(
    "sends nothing when it is lost: %s",
    async (resumeToken, { expect }) =>
      world(async (w) => {
        const exchange = await w.park(resumeToken);
        w.forget();
        w.restart();
        const turn = await w.back(exchange, 1, { r1: accept() });
        expect(turn).toMatchObject({ reply: { error: { data: { reason: "lost" } } } });
        await pass(0);
        expect(w.sent).toEqual([]);
      }),
  );

  test("answers none of its questions", async ({ expect }) =>
    world(async (w) => {
      const { server, parking } = w;
      const { exchange, call } = parking.begin(server.run);
      const turn = call.start(new Visitor());
      const { signal } = new AbortController();
      void server.peer.ask(form("a"), signal, RESUMABLE);
      void server.peer.ask(form("b"), signal, RESUMABLE.replace("a1", "a2"));
      await pass();
      await turn;
      w.restart();
      const second = w.back(exchange, 1, { r1: accept() });
      await pass();
      await second;
      w.forget();
      w.sent.splice(0);
      const third = w.back(exchange, 2, { r2: accept() });
      w.server.end();
      expect(await third).toEqual({ kind: "over", reply: DONE });
      expect(w.sent).toEqual([]);
    }));

  test("is not withdrawn, though the session changed calls while the cancellation was sent", async ({
    expect,
  }) =>
    world(async (w) => {
      await w.park(BARE);
      w.restart();
      w.forget();
      await pass(0);
      expect(w.sent).toMatchObject([[BARE, { error: { code: -32603 } }]]);
    }));
});

test("no more calls are parked than the limit; calls that are over make room", async ({ expect }) =>
  world(async (w) => {
    w.maxParked = 2;
    w.restart();
    const exchanges: string[] = [];
    const servers: AskingServer[] = [];
    for (let n = 0; n < 2; n++) {
      w.server = new AskingServer();
      servers.push(w.server);
      exchanges.push(await w.park());
    }
    w.server = new AskingServer();
    await expect(w.park()).rejects.toThrow("has 2 requests of this client waiting");
    // One of them may ask on.
    const turn = w.back(exchanges[0] ?? "", 1, { r1: accept() });
    servers[0]?.ask(form("more"));
    await pass();
    expect(await turn).toMatchObject({ kind: "asked", round: 2 });
    servers[1]?.end();
    await pass(0);
    w.server = new AskingServer();
    await w.park();
  }));
