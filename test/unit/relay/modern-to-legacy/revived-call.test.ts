/** A call that its server has asked about, and that goes on in the next life of its holder, until it is over. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { BridgeOutcome } from "../../../../src/relay/modern-to-legacy/bridge.ts";
import { BridgeService } from "../../../../src/relay/modern-to-legacy/bridge-service.ts";
import { readBridgeState } from "../../../../src/relay/modern-to-legacy/bridge-state.ts";
import { ParkedCalls } from "../../../../src/relay/modern-to-legacy/parked-calls.ts";
import type { SavedUpstreamSession } from "../../../../src/relay/modern-to-legacy/upstream-session.ts";
import { UpstreamSessions } from "../../../../src/relay/modern-to-legacy/upstream-sessions.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { type SqlFixture, withSql } from "../../lib/sql-fixture.ts";
import { bytesOf, fakeTarget, json, type Seen } from "../../upstream/fake-target.ts";
import { EVENTS, handshake } from "../../upstream/legacy/legacy-servers.ts";
import { accept, ALL, DONE, form, pass } from "./bridged-call-world.ts";

const TIMEOUT_MS = 1000;
const CALL = { method: "tools/call", params: { name: "work" } };

/** A server that puts two questions in a call, and the lives of a bridge to it over the same rows. */
class World {
  /** What this life has sent beside the call, in order: methods, and the ids of answered questions. */
  readonly sent: unknown[] = [];
  readonly #fixture: SqlFixture;
  readonly #target = fakeTarget((seen) => this.#serve(seen), {
    ...{ transport: "streamable-http", timeoutMs: TIMEOUT_MS },
  });
  #saved: SavedUpstreamSession = {};
  #service: BridgeService;
  #exchange = "";
  #callId: unknown;
  #opening: PromiseWithResolvers<void> | undefined;
  /** What the server has sent on its standalone stream, which it can resume. */
  readonly #heard: { readonly id: string; readonly bytes: Uint8Array }[] = [];
  #standalone: ReadableStreamDefaultController<Uint8Array> | undefined;
  #resumed: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(fixture: SqlFixture) {
    this.#fixture = fixture;
    this.#service = this.#live();
  }

  /** The memory is lost, with all that waited for a time. */
  restart(): void {
    vi.clearAllTimers();
    this.sent.splice(0);
    this.#standalone = undefined;
    this.#service = this.#live();
  }

  /** The server does not answer the request for its standalone stream. @returns a function after which it does. */
  holdStream(): () => void {
    const opening = Promise.withResolvers<void>();
    this.#opening = opening;
    return opening.resolve;
  }

  /** Calls, and is asked. @param notice that comes on the standalone stream before. */
  async asked(notice?: object): Promise<void> {
    const outcome = this.#service.take("call", { kind: "call", digest: "d", call: CALL }, ALL);
    await pass(0);
    if (notice !== undefined) this.hear(notice);
    await pass();
    const state = readBridgeState(resultOf(await outcome)?.["requestState"]);
    if (state?.kind !== "parked") throw new Error("Not asked");
    this.#exchange = state.exchange;
  }

  /** Comes back with answers. @returns the result. */
  async back(round: number, responses: JsonObject): Promise<JsonObject | undefined> {
    const outcome = this.#service.take(
      crypto.randomUUID(),
      {
        ...{ kind: "answer", method: CALL.method, digest: "d", object: "o" },
        ...{ exchange: this.#exchange, round, responses },
      },
      ALL,
    );
    await pass();
    return resultOf(await outcome);
  }

  /** Sends on the resumed stream of the call. */
  say(message: object): void {
    this.#resumed?.enqueue(eventOf(message));
  }

  /** Sends on the standalone stream, whether anybody listens or not. */
  hear(message: object): void {
    const id = `g-${this.#heard.length + 1}`;
    const bytes = eventOf(message, id);
    this.#heard.push({ id, bytes });
    this.#standalone?.enqueue(bytes);
  }

  end(): void {
    this.say({ id: this.#callId, ...DONE });
  }

  #live(): BridgeService {
    const { sql, clock } = this.#fixture;
    const upstreamSessions = new UpstreamSessions({
      target: this.#target,
      client: { capabilities: ALL, clientInfo: { name: "c", version: "1" } },
      saved: this.#saved,
      save: (change) => (this.#saved = { ...this.#saved, ...change }),
      ...{ quietMs: 1000, onUpdated: () => undefined },
      listenedUris: () => new Set<string>(),
    });
    return new BridgeService({
      ...{ slug: "fake", object: "o", upstreamSessions, calls: new ParkedCalls(sql) },
      ...{ limits: defaultLimits(), now: () => clock.now },
      ...{ onChange: () => undefined, synced: () => Promise.resolve() },
    });
  }

  async #serve({ method, headers, body }: Seen): Promise<Response> {
    const { id, method: called } = body;
    if (called === "initialize") {
      const session = { "Mcp-Session-Id": "session-1" };
      return json({ jsonrpc: "2.0", id, result: handshake }, { headers: session });
    }
    if (called === "tools/call") {
      this.#callId = id;
      const questions = [7, 8].map((id) => eventOf({ id, ...form(`${id}`) }, `e-${id}`));
      return streamOf((stream) => {
        for (const question of questions) stream.enqueue(question);
      });
    }
    const after = headers.get("last-event-id");
    if (after?.startsWith("e-") === true) return streamOf((stream) => (this.#resumed = stream));
    this.sent.push(called ?? id ?? method);
    if (method === "POST") return new Response(null, { status: 202 });
    await this.#opening?.promise;
    const missed = this.#heard.slice(this.#heard.findIndex(({ id }) => id === after) + 1);
    return streamOf((stream) => {
      this.#standalone = stream;
      for (const { bytes } of after === null ? [] : missed) stream.enqueue(bytes);
    });
  }
}

function resultOf(outcome: BridgeOutcome): JsonObject | undefined {
  if (outcome.kind !== "reply" || !("result" in outcome.reply)) {
    throw new Error(`No result: ${JSON.stringify(outcome)}`);
  }
  return outcome.reply.result;
}

function eventOf(message: object, id?: string): Uint8Array {
  const text = `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
  return bytesOf(id === undefined ? text : `id: ${id}\n${text}`);
}

function streamOf(
  start: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): Response {
  return new Response(new ReadableStream<Uint8Array>({ start }), { headers: EVENTS });
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const world = (act: (world: World) => Promise<void>): Promise<void> =>
  withSql((fixture) => act(new World(fixture)));

test("the time that a client takes for a question of before does not count as the server's", async ({
  expect,
}) =>
  world(async (w) => {
    await w.asked();
    w.restart();
    expect(await w.back(1, { r1: accept() })).toMatchObject({ inputRequests: { r2: form("8") } });
    await pass(10 * TIMEOUT_MS);
    const last = w.back(2, { r2: accept() });
    w.end();
    expect(await last).toMatchObject({ resultType: "complete" });
    expect(w.sent).toEqual(["GET", 7, 8]);
  }));

test("a question of before that the server withdraws is not answered any more", async ({
  expect,
}) =>
  world(async (w) => {
    await w.asked();
    w.restart();
    await w.back(1, { r1: accept() });
    w.say({ method: "notifications/cancelled", params: { requestId: 8 } });
    await pass(0);
    const last = w.back(2, { r2: accept() });
    w.end();
    expect(await last).toMatchObject({ resultType: "complete" });
    expect(w.sent).toEqual(["GET", 7]);
  }));

test("the answers of a client do not overtake the standalone stream, where the server may ask on", async ({
  expect,
}) =>
  world(async (w) => {
    await w.asked();
    w.restart();
    const open = w.holdStream();
    const last = w.back(1, { r1: accept(), r2: accept() });
    await pass();
    expect(w.sent).toEqual(["GET"]);
    open();
    await pass(0);
    expect(w.sent).toEqual(["GET", 7, 8]);
    w.end();
    expect(await last).toMatchObject({ resultType: "complete" });
  }));

describe("a question that comes on the standalone stream while the call is parked", () => {
  const NOTICE = { method: "notifications/message", params: { level: "info", data: "x" } };
  const QUESTION = { id: 9, ...form("9") };

  test.for(["before", "after"])(
    "is put to the client, %s the object is lost",
    async (when, { expect }) =>
      world(async (w) => {
        await w.asked(NOTICE);
        if (when === "before") {
          w.hear(QUESTION);
          await pass(0);
        }
        w.restart();
        if (when === "after") w.hear(QUESTION);
        const second = await w.back(1, { r1: accept(), r2: accept() });
        expect(second).toMatchObject({ inputRequests: { r3: form("9") } });
        expect(w.sent).toEqual(["GET", 7, 8]);
        // The next life begins after it.
        w.restart();
        const last = w.back(2, { r3: accept() });
        await pass();
        w.end();
        expect(await last).toMatchObject({ resultType: "complete" });
        expect(w.sent).toEqual(["GET", 9]);
      }),
  );
});
