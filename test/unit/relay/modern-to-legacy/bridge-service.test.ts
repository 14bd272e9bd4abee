/** The commands of one principal at one legacy server, and what becomes of them when its sessions are closed. */

import { expect, test } from "vitest";

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
import { accept, ALL, form } from "./bridged-call-world.ts";

const CALL: BridgeCommand = {
  ...{ kind: "call", digest: "d" },
  call: { method: "tools/call", params: { name: "work" } },
};
const LOST = {
  kind: "reply",
  reply: { error: { code: -32603, data: { upstream: "fake", reason: "lost" } } },
};

/** A bridge to a server that puts these questions, and never answers a call. */
class World {
  /** What the server was sent beside the call, in order: methods, and the ids of answered questions. */
  readonly sent: unknown[] = [];
  readonly called: Promise<void>;
  readonly service: BridgeService;

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
        resolve();
        return new Response(openStream(questions, signal), { headers: EVENTS });
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

  async close(): Promise<readonly unknown[]> {
    this.sent.splice(0);
    await this.service.close();
    return this.sent;
  }
}

/** A stream that brings no more after these messages. */
function openStream(messages: readonly object[], signal?: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const message of messages)
        controller.enqueue(bytesOf(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`));
      signal?.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
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
    const asked = await world.take(CALL);
    const state = asked.kind === "reply" && "result" in asked.reply && asked.reply.result;
    const parked = readBridgeState(state && state["requestState"]);
    if (parked?.kind !== "parked") throw new Error(`Not parked: ${JSON.stringify(asked)}`);
    expect(await world.close()).toEqual([7, "notifications/cancelled", "DELETE"]);
    // Its client comes to what has followed.
    const { service } = new World(fixture, []);
    const { exchange, round, object } = parked;
    const back: BridgeCommand = {
      ...{ kind: "answer", method: "tools/call", digest: "d", object, exchange, round },
      responses: { r1: accept() },
    };
    expect(await service.take("2", back, ALL)).toMatchObject(LOST);
  }));
