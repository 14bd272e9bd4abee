/** The commands of one principal at one legacy server, and what becomes of them when its sessions are closed. */

import { describe, expect, onTestFinished, test, vi } from "vitest";

import type {
  BridgeCommand,
  BridgeOutcome,
} from "../../../../src/relay/modern-to-legacy/bridge.ts";
import { BridgeService } from "../../../../src/relay/modern-to-legacy/bridge-service.ts";
import { readBridgeState } from "../../../../src/relay/modern-to-legacy/bridge-state.ts";
import { ParkedCalls } from "../../../../src/relay/modern-to-legacy/parked-calls.ts";
import { UpstreamSessions } from "../../../../src/relay/modern-to-legacy/upstream-sessions.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import { type SqlFixture, withSql } from "../../lib/sql-fixture.ts";
import { type Answer, bytesOf, fakeTarget, json } from "../../upstream/fake-target.ts";
import { EVENTS, handshake } from "../../upstream/legacy/legacy-servers.ts";
import { accept, ALL, DONE, form, pass } from "./bridged-call-world.ts";

const CALL: BridgeCommand = {
  ...{ kind: "call", digest: "d" },
  call: { method: "tools/call", params: { name: "work" } },
};
const LOST = {
  kind: "reply",
  reply: { error: { code: -32603, data: { upstream: "fake", reason: "lost" } } },
};

/** A bridge to a server that puts these questions, and answers a call when it is told to. */
class World {
  /** What the server was sent beside the call, in order: methods, and the ids of answered questions. */
  readonly sent: unknown[] = [];
  readonly called: Promise<void>;
  readonly service: BridgeService;
  #callId: unknown;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor({ sql, clock }: SqlFixture, questions: readonly object[]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.called = promise;
    const serve: Answer = ({ method, body, signal }) => {
      const { id, method: called } = body;
      if (called === "initialize") {
        const headers = { "Mcp-Session-Id": "session-1" };
        return json({ jsonrpc: "2.0", id, result: handshake }, { headers });
      }
      if (called === "tools/call") {
        this.#callId = id;
        const body = new ReadableStream<Uint8Array>({
          start: (stream) => {
            this.#stream = stream;
            signal?.addEventListener("abort", () => stream.error(signal.reason));
          },
        });
        for (const question of questions) this.say(question);
        resolve();
        return new Response(body, { headers: EVENTS });
      }
      this.sent.push(called ?? id ?? method);
      return new Response(null, { status: method === "POST" ? 202 : 405 });
    };
    const upstreamSessions = new UpstreamSessions({
      target: fakeTarget(serve, { transport: "streamable-http" }),
      client: { capabilities: ALL, clientInfo: { name: "c", version: "1" } },
      ...{ quietMs: 1000, save: () => undefined, onUpdated: () => undefined },
      listenedUris: () => new Set<string>(),
    });
    this.service = new BridgeService({
      ...{ slug: "fake", object: "o", upstreamSessions, calls: new ParkedCalls(sql) },
      ...{ limits: defaultLimits(), now: () => clock.now },
      ...{ onChange: () => undefined, synced: () => Promise.resolve() },
    });
  }

  take(command: BridgeCommand): Promise<BridgeOutcome> {
    return this.service.take(crypto.randomUUID(), command, ALL);
  }

  /** Calls, and is asked. @returns the command that answers. */
  async asked(): Promise<BridgeCommand> {
    const asked = await this.take(CALL);
    const state = asked.kind === "reply" && "result" in asked.reply && asked.reply.result;
    const parked = readBridgeState(state && state["requestState"]);
    if (parked?.kind !== "parked") throw new Error(`Not parked: ${JSON.stringify(asked)}`);
    const { exchange, round, object } = parked;
    return {
      ...{ kind: "answer", method: "tools/call", digest: "d", object, exchange, round },
      responses: { r1: accept() },
    };
  }

  /** Sends on the stream of the call. */
  say(message: object): void {
    this.#stream?.enqueue(bytesOf(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`));
  }

  end(): void {
    this.say({ id: this.#callId, ...DONE });
  }

  async close(): Promise<readonly unknown[]> {
    this.sent.splice(0);
    await this.service.close();
    return this.sent;
  }
}

test("a call that runs as the sessions are closed ends in one error, and is cancelled in its session", () =>
  withSql(async (fixture) => {
    const world = new World(fixture, []);
    const outcome = world.take(CALL);
    await world.called;
    expect(await world.close()).toEqual(["notifications/cancelled", "DELETE"]);
    expect(await outcome).toMatchObject(LOST);
    expect(world.service.isIdle).toBe(true);
  }));

test("a call that is parked as the sessions are closed is over for its client, and its question for the server", () =>
  withSql(async (fixture) => {
    const world = new World(fixture, [{ id: 7, ...form() }]);
    const back = await world.asked();
    expect(await world.close()).toEqual([7, "notifications/cancelled", "DELETE"]);
    // Its client comes to what has followed.
    const { service } = new World(fixture, []);
    expect(await service.take("2", back, ALL)).toMatchObject(LOST);
  }));

describe("a client whose connection breaks after its answers", () => {
  const NOTICE = { method: "notifications/x" };

  /** Answers, and reads no further than a notice. */
  async function broken(world: World): Promise<BridgeCommand> {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const asking = world.asked();
    await pass();
    const back = await asking;
    const coming = world.take(back);
    await pass(0);
    world.say(NOTICE);
    const outcome = await coming;
    if (outcome.kind !== "stream") throw new Error("Nothing came");
    await outcome.body.cancel();
    world.sent.splice(0);
    return back;
  }

  test("gets the result when it sends them again at once", () =>
    withSql(async (fixture) => {
      const world = new World(fixture, [{ id: 7, ...form() }]);
      const back = await broken(world);
      await pass(200);
      const outcome = world.take(back);
      await pass(2000);
      expect(world.sent).toEqual([]);
      world.end();
      expect(await outcome).toMatchObject({ reply: { result: { resultType: "complete" } } });
    }));

  test("has its call cancelled when it does not come back", () =>
    withSql(async (fixture) => {
      const world = new World(fixture, [{ id: 7, ...form() }]);
      await broken(world);
      await pass(2000);
      expect(world.sent).toEqual(["notifications/cancelled"]);
      expect(world.service.isIdle).toBe(true);
    }));
});
