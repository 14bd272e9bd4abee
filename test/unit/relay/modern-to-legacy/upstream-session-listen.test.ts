/** One session at a legacy server, and what it hears for clients that listen beside its requests. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";
import {
  type SavedUpstreamSession,
  type SessionRequest,
  UpstreamSession,
  type UpstreamSessionOptions,
} from "../../../../src/relay/modern-to-legacy/upstream-session.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { type Answer, bytesOf, fakeTarget, json, type Seen } from "../../upstream/fake-target.ts";
import { EVENTS } from "../../upstream/legacy/legacy-servers.ts";

const QUIET_MS = 1000;
const WAIT_MS = 1000;
const URI = "x:/1";
const UPDATED = { method: "notifications/resources/updated", params: { uri: URI } };
const HANDSHAKE = {
  ...{ protocolVersion: "2025-11-25", serverInfo: { name: "s", version: "1" } },
  capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
};
const WORK: SessionRequest = {
  call: { method: "tools/call", params: { name: "work" } },
  peer: { notify: () => Promise.resolve(), ask: () => Promise.resolve({ result: {} }) },
  signal: new AbortController().signal,
};

const line = (message: object): Uint8Array =>
  bytesOf(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);

class World {
  /** What the server was asked, in order. */
  readonly asked: string[] = [];
  readonly updates: string[] = [];
  saved: SavedUpstreamSession = {};
  wanted: readonly string[] = [];
  returning: Promise<void> | undefined;
  /** How the server answers, where not as usual. */
  answers: Readonly<Record<string, Answer>> = {};
  readonly #streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  #sessions = 0;

  /** Once more, from what was saved. */
  open(options: Partial<UpstreamSessionOptions> = {}): UpstreamSession {
    return new UpstreamSession({
      target: fakeTarget((seen) => this.#answer(seen)),
      client: { capabilities: {}, clientInfo: { name: "c", version: "1" } },
      quietMs: QUIET_MS,
      listenedUris: () => new Set(this.wanted),
      returning: () => this.returning,
      onUpdated: (uri) => void this.updates.push(uri),
      saved: this.saved,
      save: (change) => (this.saved = { ...this.saved, ...change }),
      ...options,
    });
  }

  get listens(): boolean {
    return this.#streams.length > 0;
  }

  say(message: object): void {
    for (const stream of this.#streams) stream.enqueue(line(message));
  }

  /** What it was asked of resources, and to do. */
  get requests(): readonly string[] {
    return this.asked.filter((method) => /^[+-]|tools/.test(method));
  }

  #answer(seen: Seen): Response | Promise<Response> {
    const { method, body } = seen;
    const what = typeof body["method"] === "string" ? body["method"] : method;
    const uri = String((body["params"] as JsonObject | undefined)?.["uri"]);
    const signs = new Map([
      ["resources/subscribe", `+${uri}`],
      ["resources/unsubscribe", `-${uri}`],
    ]);
    this.asked.push(signs.get(what) ?? what);
    const answer = this.answers[what];
    if (answer !== undefined) return answer(seen);
    if (method === "GET") return this.#stream(seen);
    if (body["id"] === undefined) return new Response(null, { status: 202 });
    const headers = { "Mcp-Session-Id": `session-${++this.#sessions}` };
    const isOpening = what === "initialize";
    return json(
      { jsonrpc: "2.0", id: body["id"], result: isOpening ? HANDSHAKE : { content: [] } },
      isOpening ? { headers } : {},
    );
  }

  #stream({ signal }: Seen): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#streams.push(controller);
        signal?.addEventListener("abort", () => {
          this.#streams.splice(this.#streams.indexOf(controller), 1);
          controller.error(signal.reason);
        });
      },
    });
    return new Response(body, { headers: EVENTS });
  }
}

const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const refuse: Answer = ({ body }) =>
  json({ jsonrpc: "2.0", id: body["id"], error: { code: -32601, message: "No." } });
const never: Answer = ({ signal }) =>
  new Promise((_, reject) =>
    signal?.addEventListener("abort", () => reject(signal.reason as Error)),
  );

async function listening(world: World): Promise<UpstreamSession> {
  world.wanted = [URI];
  const upstreamSession = world.open();
  await upstreamSession.request(WORK);
  await settle();
  return upstreamSession;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a session that clients listen at", () => {
  test("is subscribed to nothing before a tool was called", async ({ expect }) => {
    const world = new World();
    world.wanted = [URI];
    const upstreamSession = world.open();
    await upstreamSession.followListeners();
    expect([world.asked, upstreamSession.hasListeners]).toEqual([[], false]);
    await upstreamSession.request({
      ...WORK,
      call: { method: "resources/read", params: { uri: "y:" } },
    });
    await upstreamSession.followListeners();
    await settle();
    expect([world.requests, world.listens, upstreamSession.hasListeners]).toEqual([
      [],
      false,
      false,
    ]);
    // Nor in another life.
    const other = world.open();
    await other.followListeners();
    expect([world.requests, other.hasListeners]).toEqual([[], false]);
  });

  test("is subscribed before the call is sent, and listened to", async ({ expect }) => {
    const world = new World();
    const upstreamSession = await listening(world);
    expect(world.requests).toEqual([`+${URI}`, "tools/call"]);
    expect([world.listens, upstreamSession.hasListeners]).toEqual([true, true]);
    await settle(10 * QUIET_MS);
    world.say(UPDATED);
    await settle();
    expect([world.updates, world.listens]).toEqual([[URI], true]);
    await upstreamSession.request(WORK);
    expect(world.requests).toEqual([`+${URI}`, "tools/call", "tools/call"]);
  });

  test("is subscribed when somebody comes later", async ({ expect }) => {
    const world = new World();
    const upstreamSession = world.open();
    await upstreamSession.request(WORK);
    expect([world.requests, upstreamSession.hasListeners]).toEqual([["tools/call"], false]);
    world.wanted = [URI];
    await upstreamSession.followListeners();
    expect([world.requests, upstreamSession.hasListeners]).toEqual([
      ["tools/call", `+${URI}`],
      true,
    ]);
  });

  test("is left when nobody listens any more, and quiet soon", async ({ expect }) => {
    const world = new World();
    const upstreamSession = await listening(world);
    world.wanted = [];
    await upstreamSession.followListeners();
    expect([world.requests.at(-1), upstreamSession.hasListeners]).toEqual([`-${URI}`, false]);
    await settle(QUIET_MS);
    expect([world.listens, vi.getTimerCount()]).toEqual([false, 0]);
  });

  test("in another life is subscribed at once, and left if nobody listens there", async ({
    expect,
  }) => {
    const world = new World();
    await listening(world);
    const second = world.open();
    await second.followListeners();
    expect(world.requests.slice(2)).toEqual([`+${URI}`]);
    expect(second.hasListeners).toBe(true);
    const third = world.open();
    world.wanted = [];
    await third.followListeners();
    expect(world.requests.slice(3)).toEqual([`-${URI}`]);
    expect(world.asked.filter((method) => method === "initialize")).toHaveLength(1);
  });

  test("is subscribed again when it was forgotten, before the call", async ({ expect }) => {
    const world = new World();
    const upstreamSession = await listening(world);
    let isForgotten = true;
    world.answers = {
      "tools/call": ({ body }) => {
        if (!isForgotten) return json({ jsonrpc: "2.0", id: body["id"], result: { content: [] } });
        isForgotten = false;
        return json({}, { status: 404 });
      },
    };
    await upstreamSession.request(WORK);
    expect(world.requests.slice(2)).toEqual(["tools/call", `+${URI}`, "tools/call"]);
    await settle();
    expect(world.listens).toBe(true);
  });
});

describe("a call", () => {
  test("waits for clients that are about to retry", async ({ expect }) => {
    const world = new World();
    const { promise, resolve } = Promise.withResolvers<void>();
    world.returning = promise;
    const called = world.open().request(WORK);
    await settle(WAIT_MS / 2);
    expect(world.requests).toEqual([]);
    world.wanted = [URI];
    resolve();
    await called;
    expect(world.requests).toEqual([`+${URI}`, "tools/call"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.for<{ name: string; prepare: (world: World) => void }>([
    {
      name: "clients that do not retry",
      prepare: (world) => {
        world.returning = new Promise(() => undefined);
      },
    },
    {
      name: "a server that does not answer",
      prepare: (world) => {
        world.wanted = [URI];
        world.answers = { "resources/subscribe": never };
      },
    },
  ])("does not wait for long for $name", async ({ prepare }, { expect }) => {
    const world = new World();
    prepare(world);
    const called = world.open().request(WORK);
    await settle(WAIT_MS - 1);
    expect(world.requests).not.toContain("tools/call");
    await settle(1);
    await called;
    expect(world.requests).toContain("tools/call");
  });

  test("is sent where the server refuses to be subscribed", async ({ expect }) => {
    const world = new World();
    world.answers = { "resources/subscribe": refuse };
    const upstreamSession = await listening(world);
    await upstreamSession.request(WORK);
    expect(world.requests).toEqual([`+${URI}`, "tools/call", "tools/call"]);
  });
});

const saysItFirst: Answer = ({ body }) => {
  const parts = [line(UPDATED), line({ id: body["id"], result: {} })];
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift();
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
  return new Response(stream, { headers: EVENTS });
};

describe("an update", () => {
  test.for(["resources/subscribe", "logging/setLevel", "tools/call"])(
    "is received on the stream of %s",
    async (method, { expect }) => {
      const world = new World();
      world.wanted = [URI];
      world.answers = { [method]: saysItFirst };
      await world.open().request({ ...WORK, logLevel: "info" });
      expect(world.updates).toEqual([URI]);
    },
  );
});

test("a server without a stream of its own is subscribed, and not waited at", async ({
  expect,
}) => {
  const world = new World();
  world.answers = { GET: () => new Response(null, { status: 405 }) };
  const upstreamSession = await listening(world);
  expect(world.requests).toEqual([`+${URI}`, "tools/call"]);
  await settle(QUIET_MS);
  expect([upstreamSession.hasListeners, vi.getTimerCount()]).toEqual([false, 0]);
  world.wanted = [URI, "x:/2"];
  await upstreamSession.request(WORK);
  expect(world.requests.slice(2)).toEqual(["+x:/2", "tools/call"]);
});
