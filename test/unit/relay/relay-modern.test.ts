/** A modern client's request: to the server itself where it is of that era, over the bridge where not. */

import { describe, test } from "vitest";
import type { ModernCall } from "../../../src/relay/modern-context.ts";
import type { BridgeCommand, Bridges } from "../../../src/relay/modern-to-legacy/bridge.ts";
import { digestOf, writeState } from "../../../src/relay/modern-to-legacy/bridge-state.ts";
import { relayModern } from "../../../src/relay/relay-modern.ts";
import { errorReply, type JsonObject, type Reply } from "../../../src/protocol/json-rpc.ts";
import { ownError } from "../../../src/protocol/own-error.ts";
import type { UpstreamTarget } from "../../../src/upstream/target.ts";
import { type Answer, failureOf, fakeTarget, html, type Seen } from "../upstream/fake-target.ts";
import { legacyServer, modernServer, naming, refusing } from "../catalog/read/listing-server.ts";

const RAN = { resultType: "complete", content: [] };
const BRIDGED: Reply = { result: { resultType: "complete", content: [{ type: "text" }] } };
const CAPABILITIES = { sampling: {} };
const PEER = {
  notify: () => Promise.resolve(),
  ask: (): Promise<Reply> => Promise.resolve({ result: {} }),
};

const MODERN = modernServer({ "tools/call": RAN }).answer;
const LEGACY = legacyServer({ "tools/call": { content: [] } }).answer;
/** The answer of official servers of the older era to a request without a session. */
const wantsSession = refusing(-32000, 400);

interface World {
  /** What the server was asked. */
  readonly asked: string[];
  readonly orders: BridgeCommand[];
  /** Whose bridges were used. */
  readonly taken: {
    readonly principal: string;
    readonly slug: string;
    readonly able: JsonObject;
  }[];
  answer: Answer;
  /** What comes over the bridge. */
  bridged: Reply;
  readonly relay: (call?: Partial<ModernCall>, signal?: AbortSignal) => Promise<Reply>;
}

function worldOf(answer: Answer, target: Partial<UpstreamTarget> = {}): World {
  const asked: string[] = [];
  const orders: BridgeCommand[] = [];
  const taken: World["taken"] = [];
  const fake = fakeTarget(
    (seen: Seen) => {
      asked.push(String(seen.body["method"]));
      return world.answer(seen);
    },
    { slug: "docs", ...target },
  );
  const bridges: Bridges = {
    at(principal, { slug }, able) {
      taken.push({ principal, slug, able });
      return {
        run(order) {
          orders.push(order);
          const outcome = Promise.resolve({ kind: "reply", reply: world.bridged } as const);
          return { outcome, cancel: () => Promise.resolve() };
        },
        listenForResources: () => Promise.reject(new Error("No client listens here")),
      };
    },
  };
  const scope = { bridges, principal: "alice", waitUntil: () => undefined };
  const world: World = {
    ...{ asked, orders, taken, answer, bridged: BRIDGED },
    relay: (call = {}, signal = new AbortController().signal) =>
      relayModern(scope, fake, { ...CALL, peer: PEER, signal, ...call }),
  };
  return world;
}

const message = (method: string, params: JsonObject): ModernCall["message"] => ({
  ...{ jsonrpc: "2.0", id: 1, method, params },
});
const CALL: Omit<ModernCall, "peer" | "signal"> = {
  message: message("tools/call", { name: "work", arguments: { region: "eu" } }),
  envelope: { protocolVersion: "2026-07-28", clientCapabilities: CAPABILITIES },
  headers: new Headers({ "Mcp-Param-Region": "eu" }),
  toolFacts: () =>
    Promise.resolve({ bindings: [{ header: "mcp-param-region", path: ["region"] }] }),
};

const asOf = (answer: Answer): Answer => {
  return (seen) => (seen.body["method"] === "server/discover" ? answer(seen) : LEGACY(seen));
};

describe("a call goes", () => {
  test("to a modern server itself, which is asked once what it is", async ({ expect }) => {
    const { relay, asked, orders } = worldOf(MODERN);
    expect(await relay()).toEqual({ result: RAN });
    expect(await relay()).toEqual({ result: RAN });
    expect(asked).toEqual(["server/discover", "tools/call", "tools/call"]);
    expect(orders).toEqual([]);
  });

  test.for<{ name: string; answer: Answer; target?: Partial<UpstreamTarget>; probes?: number }>([
    { name: "wants a session", answer: asOf(wantsSession) },
    { name: "does not know the method", answer: asOf(refusing(-32601)) },
    { name: "is there for people", answer: asOf(() => html(404)) },
    { name: "lists older revisions", answer: asOf(naming("2025-11-25")) },
    {
      name: "answers with something else",
      answer: asOf(modernServer({ "server/discover": {} }).answer),
    },
    { name: "is configured so", answer: MODERN, target: { era: "legacy" }, probes: 0 },
    { name: "is reached over HTTP+SSE", answer: MODERN, target: { transport: "sse" }, probes: 0 },
  ])(
    "over the bridge, to a server that $name",
    async ({ answer, target, probes = 1 }, { expect }) => {
      const { relay, asked, orders, taken } = worldOf(answer, target);
      expect(await relay()).toEqual(BRIDGED);
      expect(await relay()).toEqual(BRIDGED);
      expect(asked).toEqual(Array(probes).fill("server/discover"));
      expect(taken).toEqual(
        [1, 2].map(() => ({ principal: "alice", slug: "docs", able: CAPABILITIES })),
      );
      expect(orders).toMatchObject(
        [1, 2].map(() => ({
          kind: "call",
          call: { method: "tools/call", params: { name: "work" } },
        })),
      );
    },
  );

  test("nowhere when a server has only unknown revisions", async ({ expect }) => {
    const { relay, asked, taken } = worldOf(naming("2031-01-01"));
    expect(await relay()).toEqual({
      error: {
        ...{ code: -32603, message: 'Upstream "docs" speaks none of this gateway\'s revisions' },
        data: { upstream: "docs", supported: ["2031-01-01"] },
      },
    });
    expect(asked).toEqual(["server/discover"]);
    expect(taken).toEqual([]);
  });

  test.for([401, 403, 429, 500, 503])(
    "nowhere when the status %d leaves the era open, which is asked again",
    async (status, { expect }) => {
      const world = worldOf(() => html(status));
      expect(await world.relay()).toMatchObject({
        error: { code: -32603, data: { upstream: "docs", status } },
      });
      expect(world.taken).toEqual([]);
      world.answer = MODERN;
      expect(await world.relay()).toEqual({ result: RAN });
      expect(world.asked).toEqual(["server/discover", "server/discover", "tools/call"]);
    },
  );
});

test("a result in the bridge's own form is not accepted from a server", async ({ expect }) => {
  for (const requestState of [`edgeway:${JSON.stringify({ n: 1e8, d: "d" })}`, "edgeway:"]) {
    const asks = { resultType: "input_required", inputRequests: {}, requestState };
    const { relay } = worldOf(modernServer({ "tools/call": asks }).answer);
    expect(await relay()).toMatchObject({
      error: { code: -32603, data: { upstream: "docs", reason: "malformed" } },
    });
  }
});

test("an error about an unknown server's revisions quotes revisions alone, and not many", async ({
  expect,
}) => {
  const many = Array.from({ length: 20 }, (_, n) => `20${n + 31}-01-01`);
  const { relay } = worldOf(naming("2031-01-01 <SECRET>", ...many));
  expect(await relay()).toMatchObject({ error: { data: { supported: many.slice(0, 16) } } });
});

describe("a server that was modern", () => {
  test("and is not any more gets the refused request over the bridge", async ({ expect }) => {
    const world = worldOf(MODERN);
    await world.relay();
    world.answer = (seen) => wantsSession(seen);
    expect(await world.relay()).toEqual(BRIDGED);
    expect(world.orders).toHaveLength(1);
    expect(world.asked.splice(0)).toEqual([
      ...["server/discover", "tools/call"],
      ...["tools/call", "server/discover"],
    ]);
    // Known from now on.
    expect(await world.relay()).toEqual(BRIDGED);
    expect(world.asked).toEqual([]);
  });

  test("and still is has its refusal passed on", async ({ expect }) => {
    const { relay, taken } = worldOf((seen) =>
      seen.body["method"] === "tools/call" ? wantsSession(seen) : MODERN(seen),
    );
    expect(await relay()).toMatchObject({ error: { code: -32000 } });
    expect(taken).toEqual([]);
  });

  test("has an error passed on that came after it began", async ({ expect }) => {
    const world = worldOf(MODERN);
    await world.relay();
    // In an answer, and not as an HTTP status: the call may have run.
    world.answer = (seen) => refusing(-32000, 200)(seen);
    expect(await world.relay()).toMatchObject({ error: { code: -32000 } });
    expect(world.taken).toEqual([]);
  });
});

test("answers go to the bridge that asked, even if the era of the server has changed", async ({
  expect,
}) => {
  const { name, arguments: args } = CALL.message.params ?? {};
  const called = { method: "tools/call", params: { name, arguments: args } };
  const digest = await digestOf(called);
  const parked = { kind: "parked", object: "o", exchange: "x", round: 1, digest } as const;
  const inputResponses = { r1: { action: "accept", content: {} } };
  const params = { ...called.params, requestState: writeState(parked), inputResponses };
  const { relay, asked, orders } = worldOf(MODERN);
  expect(await relay({ message: message("tools/call", params) })).toEqual(BRIDGED);
  expect(orders).toMatchObject([{ kind: "answer", exchange: "x", responses: inputResponses }]);
  expect(asked).not.toContain("tools/call");
  // The state of a server goes back to that server.
  const own = { ...params, requestState: "the server's own" };
  expect(await relay({ message: message("tools/call", own) })).toEqual({ result: RAN });
  expect(orders).toHaveLength(1);
});

/** The error of a holder that cannot open a session. */
const refused = (reason: string): Reply => ownError(-32603, "no", { upstream: "docs", reason });

describe("a server that was legacy", () => {
  test("and is not any more gets the request itself that did not go over the bridge", async ({
    expect,
  }) => {
    const world = worldOf(asOf(wantsSession));
    await world.relay();
    world.asked.splice(0);
    world.answer = MODERN;
    world.bridged = refused("other-era");
    expect(await world.relay()).toEqual({ result: RAN });
    expect(world.asked.splice(0)).toEqual(["server/discover", "tools/call"]);
    // Known from now on.
    world.orders.splice(0);
    expect(await world.relay()).toEqual({ result: RAN });
    expect(world.asked).toEqual(["tools/call"]);
    expect(world.orders).toEqual([]);
  });

  test.for<{ name: string; round: JsonObject }>([
    { name: "by its state", round: { inputResponses: {}, requestState: "the server's own" } },
    { name: "by answers without a state", round: { inputResponses: { q: { action: "accept" } } } },
  ])(
    "and is not any more gets the next round of a call that it began elsewhere, $name",
    async ({ round }, { expect }) => {
      const world = worldOf(asOf(wantsSession));
      await world.relay();
      world.orders.splice(0);
      world.answer = MODERN;
      const next = message("tools/call", { ...CALL.message.params, ...round });
      expect(await world.relay({ message: next })).toEqual({ result: RAN });
      expect(world.asked).toEqual(["server/discover", "server/discover", "tools/call"]);
      expect(world.orders).toEqual([]);
    },
  );

  test.for(["tasks/get", "tasks/update", "tasks/cancel"])(
    "and is not any more gets %s of a task that it made elsewhere",
    async (method, { expect }) => {
      const world = worldOf(asOf(wantsSession));
      await world.relay();
      world.orders.splice(0);
      const task = { resultType: "complete", taskId: "t", status: "working" };
      world.answer = modernServer({ [method]: task }).answer;
      const asked = world.relay({ message: message(method, { taskId: "t" }) });
      expect(await asked).toEqual({ result: task });
      expect(world.asked).toEqual(["server/discover", "server/discover", method]);
      expect(world.orders).toEqual([]);
    },
  );

  test("and still is takes answers without a state for a first call", async ({ expect }) => {
    const world = worldOf(asOf(wantsSession));
    await world.relay();
    world.orders.splice(0);
    const inputResponses = { q: { action: "accept" } };
    const next = message("tools/call", { ...CALL.message.params, inputResponses });
    expect(await world.relay({ message: next })).toEqual(BRIDGED);
    expect(world.asked).toEqual(["server/discover", "server/discover"]);
    expect(world.orders).toMatchObject([{ kind: "call" }]);
  });

  test("is not kept for a server that sends that error itself", async ({ expect }) => {
    const world = worldOf(asOf(wantsSession));
    await world.relay();
    world.answer = MODERN;
    const data = { upstream: "docs", reason: "other-era" };
    world.bridged = errorReply(-32603, "no", data);
    expect(await world.relay()).toEqual(world.bridged);
    expect(world.asked).toEqual(["server/discover"]);
  });

  test("and still is has the reply of the bridge passed on", async ({ expect }) => {
    const world = worldOf(asOf(wantsSession));
    world.bridged = refused("other-era");
    expect(await world.relay()).toEqual(world.bridged);
    expect(world.orders).toHaveLength(1);
    expect(world.asked).not.toContain("tools/call");
  });

  test.for(["lost", "timeout", "unreachable"])(
    "is not called itself when the bridge reports it as %s",
    async (reason, { expect }) => {
      const world = worldOf(asOf(wantsSession));
      await world.relay();
      world.answer = MODERN;
      world.bridged = refused(reason);
      expect(await world.relay()).toEqual(world.bridged);
      expect(world.asked).toEqual(["server/discover"]);
    },
  );
});

describe("arguments in headers", () => {
  test.for([
    { name: "missing", headers: {} },
    { name: "different", headers: { "Mcp-Param-Region": "us" } },
  ])("that are $name reach neither the bridge nor the server", async ({ headers }, { expect }) => {
    const { relay, asked, taken } = worldOf(asOf(wantsSession));
    const reply = await relay({ headers: new Headers(headers as Record<string, string>) });
    expect(reply).toMatchObject({ error: { code: -32020 } });
    expect(asked).toEqual(["server/discover"]);
    expect(taken).toEqual([]);
  });

  test("are judged for tools alone", async ({ expect }) => {
    const { relay, orders } = worldOf(asOf(wantsSession));
    const get = message("prompts/get", { name: "work", arguments: { region: "eu" } });
    expect(await relay({ message: get, headers: new Headers() })).toEqual(BRIDGED);
    expect(orders).toHaveLength(1);
  });
});

test("a request that was cancelled ends with that, and nothing else", async ({ expect }) => {
  const cancelled = new Error("cancelled");
  const controller = new AbortController();
  const { relay } = worldOf((seen) => {
    if (seen.body["method"] !== "tools/call") return MODERN(seen);
    controller.abort(cancelled);
    throw new Error("The connection was closed");
  });
  expect(await failureOf(relay({}, controller.signal))).toBe(cancelled);
});
