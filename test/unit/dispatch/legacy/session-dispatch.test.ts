/** The dispatch between a session and several servers: which of them it listens to, hands over, calls and closes. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import type { Interests } from "../../../../src/catalog/feeds.ts";
import { SessionDispatch } from "../../../../src/dispatch/legacy/session-dispatch.ts";
import {
  resumeTokenAmong,
  resumeTokenWith,
  serverResumeToken,
} from "../../../../src/relay/server-resume-token.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import type { Call } from "../../../../src/protocol/exchange.ts";
import type { Reply } from "../../../../src/protocol/json-rpc.ts";
import type { Unsolicited } from "../../../../src/sessions/dispatch.ts";
import { writeResumeToken } from "../../../../src/upstream/legacy/resume-token.ts";
import type {
  SavedConnection,
  SavedServer,
} from "../../../../src/upstream/legacy/saved-connection.ts";
import { legacyServer } from "../../catalog/read/listing-server.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";
import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";
import { StreamableHttpWire } from "../../../../src/upstream/legacy/streamable-http-wire.ts";
import { bytesOf, fakeTarget, type Seen } from "../../upstream/fake-target.ts";

const SAVED: SavedConnection = {
  ...{ transport: "streamable-http", sessionId: "s", logLevel: undefined },
  handshake: { revision: "2025-11-25", capabilities: {}, serverInfo: {} },
};
const MODERN: SavedServer = { era: "modern" };
const CLIENT = { revision: "2025-11-25", capabilities: {}, clientInfo: {} } as const;
const DONE: Reply = { result: {} };
const never = (): never => {
  throw new Error("not of this test");
};
const { signal } = new AbortController();

const { sessionMark } = new StreamableHttpWire(
  fakeTarget(() => Response.json({})),
  { sessionId: "s" },
);
/** The place after an event of a server's standalone stream, in the server's own token. */
const at = (lastEventId: string): string =>
  writeResumeToken({ lastEventId, session: sessionMark }) ?? "";
/** The places of two servers in one token. */
const PLACES = resumeTokenAmong(resumeTokenAmong(undefined, "a", at("e1")), "b", at("e2"));

/** A request, as the tests look at it. */
const briefly = ({ method, body, headers }: Seen): string =>
  method === "GET"
    ? `GET after ${headers.get("last-event-id") ?? "nothing"}`
    : `${method} ${typeof body["method"] === "string" ? body["method"] : JSON.stringify(body)}`;

class Scene {
  readonly dispatch: SessionDispatch;
  readonly #seen: { readonly slug: string; readonly seen: Seen }[] = [];
  readonly #servers: readonly Server[];
  #endpoint: Endpoint;
  /** The servers whose streams are open. */
  readonly #open = new Set<string>();
  readonly saved: unknown[] = [];
  readonly primed: unknown[][] = [];
  readonly notices: [Call, string | undefined][] = [];
  newest: string | undefined;
  isDown = false;
  /** How the fan-out answers a subscription. */
  subscribed: () => Promise<Interests> = never;

  /** @param used the servers that are known from an earlier life. */
  constructor(slugs: readonly string[], used: Readonly<Record<string, SavedServer>> = {}) {
    this.#servers = slugs.map((slug) => this.#serverOf(slug));
    const [first, ...others] = this.#servers as [Server, ...Server[]];
    const isMerged = others.length > 0;
    const endpoint: Endpoint = { servers: [first, ...others], isMerged, keepsNames: !isMerged };
    const unsolicited: Unsolicited = {
      notify: (notice, resumeToken) =>
        Promise.resolve(void this.notices.push([notice, resumeToken])),
      ask: () => Promise.resolve(DONE),
      reopened: () => undefined,
      hasOpenStream: () => true,
      lastResumeToken: () => this.newest,
      primed: (...given) => void this.primed.push(given),
    };
    this.#endpoint = endpoint;
    const now = (): Endpoint => this.#endpoint;
    this.dispatch = new SessionDispatch({
      requestScope: {
        get endpoint() {
          return now();
        },
        ...{ route: "/mcp", principal: "p", limits: defaultLimits() },
        waitUntil: () => undefined,
        ...{ feeds: { of: never }, keys: { ring: never, ringFor: never } as never },
      },
      ...{ client: CLIENT, unsolicited, savedInbox: undefined, saveInbox: never },
      source: {
        ...{ subscribe: () => this.subscribed(), replace: never },
        unsubscribe: () => Promise.resolve(),
      },
      saved: { upstreams: used },
      save: (change) => void this.saved.push(change),
    });
  }

  server(slug: string): Server {
    return this.#servers.find((server) => server.slug === slug) ?? never();
  }

  /** An operator changes the endpoint: it has these servers from now on. */
  configured(...servers: Endpoint["servers"]): void {
    this.#endpoint = { ...this.#endpoint, servers };
    this.dispatch.serversChanged();
  }

  /** What a server was sent since the last time; the streams that it has open now. */
  sentTo(slug: string): readonly string[] {
    return this.#seen.filter((one) => one.slug === slug).map(({ seen }) => briefly(seen));
  }

  get openStreams(): readonly string[] {
    return [...this.#open];
  }

  #serverOf(slug: string): Server {
    const legacy = legacyServer({});
    const answer = (seen: Seen): Response | Promise<Response> => {
      this.#seen.push({ slug, seen });
      if (this.isDown) throw new TypeError("down");
      return seen.method === "GET" ? this.#stream(slug, seen) : legacy.answer(seen);
    };
    return fakeServer(slug, { target: fakeTarget(answer, { slug }) });
  }

  /** A stream that stays open, unless it resumes a request: then it brings the answer. */
  #stream(slug: string, { headers, signal: left }: Seen): Response {
    left?.addEventListener("abort", () => void this.#open.delete(slug));
    const answer = { jsonrpc: "2.0", id: "r1", result: {} };
    const isResumed = headers.get("last-event-id") === "asked";
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#open.add(slug);
        if (isResumed) controller.enqueue(bytesOf(`data: ${JSON.stringify(answer)}\n\n`));
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }
}

const progress = (progressToken: unknown): Call => ({
  method: "notifications/progress",
  params: { progressToken, progress: 1 },
});
const CHANGE = {
  kind: "notification",
  message: { jsonrpc: "2.0", method: "com.example/changed" },
} as const;

describe("several servers", () => {
  test("are listened to if they are in use, each from its own position", async ({ expect }) => {
    const scene = new Scene(["a", "b", "constructor"], { b: SAVED, a: SAVED, gone: SAVED });
    await scene.dispatch.listen(PLACES, false);
    expect(scene.sentTo("a")).toEqual(["GET after e1"]);
    expect(scene.sentTo("b")).toEqual(["GET after e2"]);
    expect(scene.sentTo("constructor")).toEqual([]);
    expect(scene.openStreams).toEqual(["a", "b"]);
    scene.dispatch.unlisten();
    expect(scene.openStreams).toEqual([]);
  });

  test("are handed over together, except those that have no stream", async ({ expect }) => {
    const scene = new Scene(["a", "b", "c"], { a: SAVED, b: MODERN, c: SAVED });
    await scene.dispatch.listen(undefined, false);
    const targetHash: unknown = expect.any(String);
    expect(await scene.dispatch.watched(PLACES)).toEqual({
      a: { revision: "2025-11-25", sessionId: "s", lastEventId: "e1", targetHash },
      c: { revision: "2025-11-25", sessionId: "s", targetHash },
    });
    expect(scene.openStreams).toEqual(["a", "c"]);
    scene.dispatch.handedOver("a");
    expect(scene.openStreams).toEqual(["c"]);
  });

  test("leave nothing to watch when none of them is in use", async ({ expect }) => {
    const scene = new Scene(["a", "b"]);
    expect(await scene.dispatch.watched(undefined)).toEqual({});
    await scene.dispatch.close();
    expect([...scene.sentTo("a"), ...scene.sentTo("b")]).toEqual([]);
  });

  test("send through a watch, from the known position of each", async ({ expect }) => {
    const scene = new Scene(["a", "b"], { a: SAVED, b: SAVED });
    scene.newest = PLACES;
    // What came after it may be known as well.
    const known = [resumeTokenAmong(PLACES, "b", at("e3")), PLACES];
    const repeated = { parsed: CHANGE, isRepeated: true, known } as const;
    await scene.dispatch.receive({ slug: "b", lastEventId: "e2", ...repeated });
    expect(scene.notices).toEqual([]);
    // The same event id at another server is another event.
    await scene.dispatch.receive({ slug: "a", lastEventId: "e2", ...repeated });
    await scene.dispatch.receive({ slug: "gone", lastEventId: "e9", ...repeated });
    expect(scene.notices).toEqual([
      [{ method: "com.example/changed" }, resumeTokenAmong(PLACES, "a", at("e2"))],
    ]);
  });

  test("are each resumed by their own resume tokens", async ({ expect }) => {
    const { dispatch } = new Scene(["a", "b"], { a: SAVED, b: SAVED });
    const running = writeResumeToken({ request: "r1", lastEventId: "asked" });
    const named = { result: { _meta: { "edgeway/server": "b" } } };
    const resume = (token: string | undefined): Promise<Reply> =>
      dispatch.resume(token, new AskedPeer(), signal);
    expect(await resume(serverResumeToken("b", running))).toEqual(named);
    // Without a token of the server's own its result is lost.
    expect(await resume(serverResumeToken("b"))).toMatchObject({
      error: { data: { upstream: "b", reason: "lost" } },
    });
    for (const lost of [
      undefined,
      serverResumeToken("gone", running),
      serverResumeToken("constructor"),
    ]) {
      expect(await resume(lost)).toMatchObject({ error: { code: -32603 } });
    }
  });

  test("get the answers to their requests of an earlier life", async ({ expect }) => {
    const scene = new Scene(["a", "b"], { a: SAVED, b: MODERN });
    const question = writeResumeToken({ ask: "q1" });
    expect(await scene.dispatch.answer(serverResumeToken("a", question), DONE)).toBe(true);
    // None of these leads to a question that is still open.
    for (const token of [
      serverResumeToken("a"),
      serverResumeToken("b", question),
      serverResumeToken("gone", question),
      "{}",
    ]) {
      expect(await scene.dispatch.answer(token, DONE)).toBe(true);
    }
    expect(scene.sentTo("a")).toEqual(['POST {"jsonrpc":"2.0","id":"q1","result":{}}']);
    expect(scene.sentTo("b")).toEqual([]);
  });

  test("offer their positions one after the other, and all are kept", async ({ expect }) => {
    const scene = new Scene(["a", "b"], { a: SAVED, b: SAVED });
    const offer = (slug: string, lastEventId: string): Promise<void> =>
      scene.dispatch.receive({ slug, lastEventId });
    await offer("a", "e1");
    expect(scene.primed.at(-1)).toEqual([resumeTokenAmong(undefined, "a", at("e1")), true]);
    scene.newest = resumeTokenAmong(undefined, "a", at("e1"));
    await offer("b", "e2");
    // The newest message stays that of the other server.
    expect(scene.primed.at(-1)).toEqual([resumeTokenWith(scene.newest, "b", at("e2")), true]);
    scene.newest = PLACES;
    await offer("a", "e3");
    expect(scene.primed.at(-1)).toEqual([resumeTokenWith(PLACES, "a", at("e3")), false]);
  });

  test("all receive messages to all servers if they are in use, and are all closed", async ({
    expect,
  }) => {
    const scene = new Scene(["a", "b", "c"], { b: SAVED, c: SAVED });
    await scene.dispatch.notify({ method: "notifications/roots/list_changed" });
    await scene.dispatch.close();
    expect(scene.sentTo("a")).toEqual([]);
    for (const slug of ["b", "c"]) {
      expect(scene.sentTo(slug)).toEqual([
        "POST notifications/roots/list_changed",
        `DELETE ${JSON.stringify({})}`,
      ]);
    }
  });

  test("receive progress on their own requests alone, with their own tokens", async ({
    expect,
  }) => {
    const scene = new Scene(["a", "b"], { a: SAVED, b: SAVED });
    await scene.dispatch.notify(progress(JSON.stringify(["b", 7])));
    await scene.dispatch.notify(progress("made up"));
    expect(scene.sentTo("a")).toEqual([]);
    expect(scene.sentTo("b")).toEqual(["POST notifications/progress"]);
  });
});

describe("a single server", () => {
  test("is listened to without having been used", async ({ expect }) => {
    const scene = new Scene(["constructor"]);
    await scene.dispatch.listen(resumeTokenAmong(undefined, "constructor", at("here")), false);
    expect(scene.sentTo("constructor").slice(0, 2)).toEqual([
      "POST initialize",
      "POST notifications/initialized",
    ]);
    expect(scene.openStreams).toEqual(["constructor"]);
    expect(await scene.dispatch.watched(undefined)).toMatchObject({
      constructor: { sessionId: "session-1" },
    });
  });

  test("that is modern has nothing to watch, in the session or elsewhere", async ({ expect }) => {
    const scene = new Scene(["a"], { a: MODERN });
    await scene.dispatch.listen(undefined, false);
    expect(await scene.dispatch.watched(undefined)).toEqual({});
    expect(scene.sentTo("a")).toEqual([]);
  });

  test("that cannot be reached stays with the session", async ({ expect }) => {
    const scene = new Scene(["a"]);
    scene.isDown = true;
    let count = 0;
    expect(await scene.dispatch.watched(undefined, () => void count++)).toBeUndefined();
    expect(count).toBe(1);
  });

  test("is resumed without a token, and reports itself which result is lost", async ({
    expect,
  }) => {
    const { dispatch } = new Scene(["a"], { a: SAVED });
    expect(await dispatch.resume(undefined, new AskedPeer(), signal)).toMatchObject({
      error: { data: { upstream: "a", reason: "lost" } },
    });
  });
});

describe("a server that an operator changes while a call of it is prepared", () => {
  test("gets the call in the way that it is reached now", async ({ expect }) => {
    const scene = new Scene(["a"], { a: SAVED });
    const reply = scene.dispatch.request({ method: "com.example/x" }, new AskedPeer(), signal);
    const changed = new Scene(["a"]);
    scene.configured(changed.server("a"));
    await reply;
    expect(changed.sentTo("a")).toContain("POST com.example/x");
    expect(scene.sentTo("a")).not.toContain("POST com.example/x");
  });

  test("gets none when it is gone", async ({ expect }) => {
    const scene = new Scene(["a"], { a: SAVED });
    const reply = scene.dispatch.request({ method: "com.example/x" }, new AskedPeer(), signal);
    scene.configured(new Scene(["b"]).server("b"));
    expect(await reply).toMatchObject({
      error: { message: 'There is no upstream "a" any more' },
    });
    expect(scene.sentTo("a")).not.toContain("POST com.example/x");
  });
});

describe("a session that is over", () => {
  test("opens nothing for a subscription that still waits", async ({ expect }) => {
    const scene = new Scene(["a", "b"]);
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<Interests>();
    scene.subscribed = () => {
      asked.resolve();
      return answered.promise;
    };
    const { subscriptions } = scene.dispatch;
    const waiting = subscriptions.subscribe(scene.server("a"), { uri: "test:/one" });
    await asked.promise;
    await scene.dispatch.close();
    answered.resolve({});
    expect(await waiting).toMatchObject({ error: { code: -32602 } });
    expect(scene.sentTo("a")).toEqual([]);
  });

  test.for<{ name: string; act: (dispatch: SessionDispatch) => Promise<unknown> }>([
    { name: "a notification", act: (dispatch) => dispatch.notify(progress("p")) },
    { name: "another", act: (dispatch) => dispatch.notify({ method: "com.example/told" }) },
    { name: "a stream", act: (dispatch) => dispatch.listen(undefined, false) },
    { name: "a watch elsewhere", act: (dispatch) => dispatch.watched(undefined) },
  ])("opens nothing for $name that comes late", async ({ act }, { expect }) => {
    const scene = new Scene(["a"]);
    await scene.dispatch.close();
    await act(scene.dispatch);
    expect([scene.sentTo("a"), scene.openStreams, scene.saved]).toEqual([[], [], []]);
  });
});

describe("a session that its server has forgotten", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("is opened again when a watch has noticed it, and saved beside the others", async ({
    expect,
  }) => {
    const scene = new Scene(["a", "constructor"], { a: SAVED, constructor: SAVED, gone: SAVED });
    const forgotten = scene.dispatch.forgotten({ slug: "constructor", sessionId: "s" });
    await scene.dispatch.forgotten({ slug: "a", sessionId: "another" });
    await vi.advanceTimersByTimeAsync(1000);
    await forgotten;
    expect(scene.sentTo("constructor").slice(0, 2)).toEqual([
      "POST initialize",
      "POST notifications/initialized",
    ]);
    expect(scene.sentTo("a")).toEqual([]);
    expect(scene.saved).toMatchObject([
      { upstreams: { a: SAVED, constructor: { sessionId: "session-1" } } },
    ]);
    expect(Object.keys((scene.saved[0] as { upstreams: object }).upstreams)).toEqual([
      "a",
      "constructor",
    ]);
  });
});
