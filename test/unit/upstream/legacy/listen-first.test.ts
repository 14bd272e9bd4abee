/**
 * A legacy server sends messages beside a request only to an open stream: a request never overtakes
 * the stream that was asked for before it.
 */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { nullPeer } from "../../../../src/protocol/exchange.ts";
import { Exchanges } from "../../../../src/upstream/legacy/exchanges.ts";
import { runExchange } from "../../../../src/upstream/legacy/run-exchange.ts";
import type { Receiver } from "../../../../src/upstream/legacy/wire.ts";
import { StreamableHttpWire } from "../../../../src/upstream/legacy/streamable-http-wire.ts";
import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import { refuseNothing } from "../../protocol/exchange-peers.ts";
import { type Answer, failureOf, fakeTarget, json } from "../fake-target.ts";
import { EVENTS, refusal } from "./legacy-servers.ts";

/** The longest time that a request waits. */
const WAIT_MS = 2000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const opened: Answer = () => new Response(new ReadableStream(), { headers: EVENTS });
const unreachable: Answer = () => {
  throw new TypeError("Network connection lost");
};

class World {
  /** What the server was sent, and what it did, in order. */
  readonly log: string[] = [];
  readonly target: UpstreamTarget;
  readonly wire: StreamableHttpWire;
  readonly #gets: PromiseWithResolvers<Answer>[] = [];

  constructor() {
    const target = fakeTarget(async (seen) => {
      const { method, body, signal } = seen;
      this.log.push(typeof body["method"] === "string" ? body["method"] : method);
      if (method === "POST") return json({ jsonrpc: "2.0", id: body["id"], result: {} });
      const get = Promise.withResolvers<Answer>();
      this.#gets.push(get);
      signal?.addEventListener("abort", () => get.reject(signal.reason));
      const answer = await get.promise;
      this.log.push("answered");
      return answer(seen);
    });
    this.target = target;
    this.wire = new StreamableHttpWire(target, { sessionId: "session", revision: "2025-11-25" });
  }

  listen(): void {
    this.wire.listen({
      deliver: () => Promise.resolve(),
      primed: () => undefined,
      onLost: () => undefined,
    });
  }

  /** How the oldest GET is answered. */
  answer(answer: Answer): void {
    this.#gets.shift()?.resolve(answer);
  }

  call(signal = new AbortController().signal): Promise<void> {
    let isSettled = false;
    const receiver: Receiver = {
      deliver: () => {
        isSettled = true;
        return Promise.resolve();
      },
      isSettled: () => isSettled,
      sent: () => undefined,
      primed: () => undefined,
      released: () => undefined,
    };
    return this.wire.request({ jsonrpc: "2.0", id: 1, method: "tools/call" }, receiver, signal);
  }

  /** A call as a connection runs it, its cancellation included. */
  exchange(signal: AbortSignal): Promise<unknown> {
    return runExchange({
      ...{ target: this.target, wire: this.wire, signal },
      exchanges: new Exchanges(() => Promise.resolve(true), refuseNothing),
      peer: nullPeer("Not here"),
      call: { method: "tools/call" },
    });
  }

  notify(): Promise<void> {
    return this.wire.post({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
  }
}

async function listening(): Promise<World> {
  const world = new World();
  world.listen();
  await settle();
  return world;
}

describe("while a server is asked for its stream", () => {
  const ANSWERS = [
    { name: "it is open", answer: opened },
    { name: "the server answers that it has none", answer: refusal(405, -32_000) },
    { name: "it cannot be had now", answer: refusal(503, -32_603) },
    { name: "it cannot be reached", answer: unreachable },
  ];
  test.for(ANSWERS)("a request waits until $name", async ({ answer }, { expect }) => {
    const world = await listening();
    const call = world.call();
    await settle(WAIT_MS - 1);
    expect(world.log).toEqual(["GET"]);
    world.answer(answer);
    await call;
    expect(world.log).toEqual(["GET", "answered", "tools/call"]);
  });

  test("a request that is cancelled is not sent, and neither is its cancellation", async ({
    expect,
  }) => {
    const world = await listening();
    const cancel = new AbortController();
    const call = world.exchange(cancel.signal);
    await settle(20);
    cancel.abort(new Error("no longer needed"));
    await expect(call).rejects.toThrow("no longer needed");
    world.answer(opened);
    await settle(WAIT_MS);
    expect(world.log).toEqual(["GET", "answered"]);
  });

  test("a request that was cancelled before it could be sent is not sent, nor cancelled", async ({
    expect,
  }) => {
    const world = new World();
    const call = world.exchange(AbortSignal.abort(new Error("too late")));
    await expect(call).rejects.toThrow("too late");
    await settle(WAIT_MS);
    expect(world.log).toEqual([]);
  });

  test("a request waits until the stream of the previous listener is closed", async ({
    expect,
  }) => {
    const world = await listening();
    const call = world.call();
    world.answer(refusal(409, -32_000));
    await settle(20);
    expect(world.log).toEqual(["GET", "answered", "GET"]);
    world.answer(opened);
    await call;
    expect(world.log.slice(3)).toEqual(["answered", "tools/call"]);
  });

  test("a notification waits, too: the server may have questions about it", async ({ expect }) => {
    const world = await listening();
    const notified = world.notify();
    await settle();
    world.answer(opened);
    await notified;
    expect(world.log).toEqual(["GET", "answered", "notifications/roots/list_changed"]);
  });

  test("an answer to the server does not wait", async ({ expect }) => {
    const world = await listening();
    await world.wire.post({ jsonrpc: "2.0", id: 7, result: {} });
    expect(world.log).toEqual(["GET", "POST"]);
  });

  test("a request is sent when that takes long, and none waits again", async ({ expect }) => {
    const world = await listening();
    const call = world.call();
    await settle(WAIT_MS);
    await call;
    await world.call();
    expect(world.log).toEqual(["GET", "tools/call", "tools/call"]);
  });

  test("a request waits for a server once that answers late, until it is in time", async ({
    expect,
  }) => {
    const world = await listening();
    await settle(WAIT_MS);
    const again = async (): Promise<readonly string[]> => {
      world.wire.unlisten();
      await settle();
      world.log.length = 0;
      world.listen();
      const call = world.call();
      await settle();
      world.answer(opened);
      await call;
      return world.log;
    };
    world.answer(opened);
    expect(await again()).toEqual(["GET", "tools/call", "answered"]);
    expect(await again()).toEqual(["GET", "answered", "tools/call"]);
  });

  test("a request that is cancelled meanwhile is not sent", async ({ expect }) => {
    const world = await listening();
    const cancelling = new AbortController();
    const call = failureOf(world.call(cancelling.signal));
    cancelling.abort(new Error("No more"));
    world.answer(opened);
    expect(await call).toEqual(new Error("No more"));
    expect(world.log).toEqual(["GET", "answered"]);
  });

  test("a request is sent when no client wants to listen any more", async ({ expect }) => {
    const world = await listening();
    const call = world.call();
    world.wire.unlisten();
    await call;
    expect(world.log).toEqual(["GET", "tools/call"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a request waits for the stream that is asked for instead", async ({ expect }) => {
    const world = await listening();
    world.wire.unlisten();
    world.listen();
    await settle();
    const call = world.call();
    await settle();
    expect(world.log).toEqual(["GET", "GET"]);
    world.answer(opened);
    world.answer(opened);
    await call;
    expect(world.log).toEqual(["GET", "GET", "answered", "tools/call"]);
  });
});

test("once a stream was open, nothing waits for it to be open again", async ({ expect }) => {
  const world = await listening();
  world.answer(() => new Response("", { headers: EVENTS }));
  await settle(2000);
  expect(world.log).toEqual(["GET", "answered", "GET"]);
  await world.call();
  expect(world.log.at(-1)).toBe("tools/call");
  world.wire.unlisten();
});
