/** The Worker's side of the bridge: replies are passed on, and no call is sent twice. */

import { describe, test } from "vitest";
import type {
  Bridge,
  BridgeCommand,
  BridgeOutcome,
  Line,
} from "../../../src/relay/modern-to-legacy/bridge.ts";
import { relayToLegacy } from "../../../src/relay/relay-to-legacy.ts";
import { digestOf, writeState } from "../../../src/relay/modern-to-legacy/bridge-state.ts";
import type { Call } from "../../../src/protocol/exchange.ts";
import type { JsonObject, Reply } from "../../../src/protocol/json-rpc.ts";
import { bodyOf, bytesOf, failureOf } from "../upstream/fake-target.ts";

const DONE: Reply = { result: { content: [] } };
const NOTICE: Call = { method: "notifications/x", params: { n: 1 } };
const CALL = { name: "work" };

type Fate = () => Promise<BridgeOutcome>;

const replies = (): Promise<BridgeOutcome> => Promise.resolve({ kind: "reply", reply: DONE });
const fails = (): Promise<BridgeOutcome> =>
  Promise.reject(new Error("SECRET: the object was reset"));
const streams =
  (...lines: readonly (Line | string)[]) =>
  (): Promise<BridgeOutcome> =>
    Promise.resolve({
      kind: "stream",
      body: bodyOf(
        lines.map((line) => bytesOf(typeof line === "string" ? line : `${JSON.stringify(line)}\n`)),
      ),
    });

/** A holder that treats its commands like this, one after the other. */
function fakeBridge(...fates: readonly Fate[]): {
  readonly bridge: Bridge;
  readonly orders: BridgeCommand[];
  readonly cancelled: number[];
} {
  const orders: BridgeCommand[] = [];
  const cancelled: number[] = [];
  const bridge: Bridge = {
    run(order) {
      const n = orders.push(order) - 1;
      return {
        outcome: (fates[n] ?? fails)(),
        cancel: () => {
          cancelled.push(n);
          return Promise.resolve();
        },
      };
    },
    listenForResources: () => Promise.reject(new Error("No client listens here")),
  };
  return { bridge, orders, cancelled };
}

interface Relayed {
  readonly reply: Promise<Reply>;
  readonly notices: Call[];
  readonly afterwards: Promise<unknown>[];
  readonly hangUp: () => void;
}

function relay(bridge: Bridge, params: JsonObject = CALL): Relayed {
  const leaving = new AbortController();
  const notices: Call[] = [];
  const afterwards: Promise<unknown>[] = [];
  const reply = relayToLegacy(
    { bridge, slug: "fake", waitUntil: (promise) => void afterwards.push(promise) },
    {
      message: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      envelope: { protocolVersion: "2026-07-28", clientCapabilities: {} },
      peer: {
        notify: (notice) => Promise.resolve(void notices.push(notice)),
        ask: () => Promise.reject(new Error("Nothing can be asked here")),
      },
      signal: leaving.signal,
    },
  );
  return {
    ...{ reply, notices, afterwards },
    hangUp: () => leaving.abort(new Error("The client has gone")),
  };
}

async function answering(): Promise<JsonObject> {
  const digest = await digestOf({ method: "tools/call", params: CALL });
  const requestState = writeState({ kind: "parked", object: "o", exchange: "x", round: 1, digest });
  return { ...CALL, requestState };
}

describe("the holder's reply", () => {
  test("is passed on", async ({ expect }) => {
    expect(await relay(fakeBridge(replies).bridge).reply).toEqual(DONE);
  });

  test("is passed on line by line", async ({ expect }) => {
    const second = { ...NOTICE, params: { n: 2 } };
    const { bridge } = fakeBridge(streams({ notice: NOTICE }, { notice: second }, { reply: DONE }));
    const { reply, notices } = relay(bridge);
    expect(await reply).toEqual(DONE);
    expect(notices).toEqual([NOTICE, second]);
  });
});

describe("a holder that is lost", () => {
  const LOSSES: readonly { readonly name: string; readonly fate: Fate }[] = [
    { name: "before it sends anything", fate: fails },
    { name: "after it began to", fate: streams({ notice: NOTICE }) },
    { name: "in the middle of a line", fate: streams('{"reply":{"res') },
  ];
  test.for(LOSSES)(
    "$name leaves one error, and the call is not sent again",
    async ({ fate }, { expect }) => {
      const { bridge, orders } = fakeBridge(fate, replies);
      const reply = await relay(bridge).reply;
      expect(reply).toEqual({
        error: {
          code: -32603,
          message: expect.stringMatching(/"fake".*unknown/) as string,
          data: { upstream: "fake", reason: "lost" },
        },
      });
      expect(orders).toHaveLength(1);
    },
  );

  test.for(LOSSES)("$name gets the answers again", async ({ fate }, { expect }) => {
    const { bridge, orders } = fakeBridge(fate, fate, replies);
    expect(await relay(bridge, await answering()).reply).toEqual(DONE);
    expect(orders).toHaveLength(3);
    expect(new Set(orders.map((order) => JSON.stringify(order))).size).toBe(1);
  });

  test("for ever leaves one error", async ({ expect }) => {
    const { bridge, orders } = fakeBridge();
    const reply = await relay(bridge, await answering()).reply;
    expect(reply).toMatchObject({ error: { data: { reason: "lost" } } });
    expect(orders).toHaveLength(3);
  });
});

describe("a client that hangs up", () => {
  test("before anything came back has its command cancelled", async ({ expect }) => {
    const { bridge, orders, cancelled } = fakeBridge(() => new Promise(() => undefined));
    const { reply, hangUp, afterwards } = relay(bridge);
    while (orders.length === 0) await Promise.resolve();
    hangUp();
    expect(await failureOf(reply)).toEqual(new Error("The client has gone"));
    expect(cancelled).toEqual([0]);
    expect(afterwards).toHaveLength(1);
  });

  test("in the middle of a stream has its command cancelled, and reads no more", async ({
    expect,
  }) => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytesOf(`${JSON.stringify({ notice: NOTICE })}\n`)),
      cancel: () => resolve(),
    });
    const { bridge, cancelled } = fakeBridge(() => Promise.resolve({ kind: "stream", body }));
    const { reply, hangUp, notices } = relay(bridge);
    while (notices.length === 0) await new Promise((resolve) => setTimeout(resolve));
    hangUp();
    expect(await failureOf(reply)).toEqual(new Error("The client has gone"));
    await closed;
    expect(cancelled).toEqual([0]);
  });

  test("before its command was made makes none", async ({ expect }) => {
    const { bridge, orders } = fakeBridge(replies);
    const { reply, hangUp } = relay(bridge);
    hangUp();
    expect(await failureOf(reply)).toEqual(new Error("The client has gone"));
    expect(orders).toEqual([]);
  });

  test("after its reply cancels nothing", async ({ expect }) => {
    const { bridge, cancelled } = fakeBridge(replies);
    const { reply, hangUp } = relay(bridge);
    await reply;
    hangUp();
    expect(cancelled).toEqual([]);
  });
});
