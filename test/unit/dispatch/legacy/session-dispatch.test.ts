/** The way between a session and several servers: who is listened to, handed over, asked and closed. */

import { describe, test } from "vitest";

import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import { sessionDispatch } from "../../../../src/dispatch/legacy/session-dispatch.ts";
import type { ServerSide } from "../../../../src/dispatch/legacy/server-sessions.ts";
import {
  resumeTokenAmong,
  serverResumeToken,
} from "../../../../src/dispatch/legacy/server-resume-token.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import type { Call, Peer } from "../../../../src/protocol/exchange.ts";
import type { Reply } from "../../../../src/protocol/json-rpc.ts";
import type { Dispatch, Unsolicited } from "../../../../src/sessions/dispatch.ts";
import type { SavedConnection } from "../../../../src/upstream/legacy/saved-connection.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const SAVED: SavedConnection = {
  ...{ transport: "streamable-http", sessionId: "s", logLevel: undefined },
  handshake: { revision: "2025-11-25", capabilities: {}, serverInfo: {} },
};
const CLIENT = { revision: "2025-11-25", capabilities: {}, clientInfo: {} } as const;
const DONE: Reply = { result: {} };
const never = (): never => {
  throw new Error("not of this test");
};

/** One server's side, which notes what it is asked. */
class FakeDispatch implements Dispatch {
  readonly asked: unknown[][] = [];
  readonly side: ServerSide;
  order: object | undefined | Error = { session: "s" };
  isSilent = false;
  peer: Peer | undefined;

  constructor(side: ServerSide) {
    this.side = side;
  }

  #note(...asked: unknown[]): void {
    this.asked.push(asked);
  }

  request(call: Call): Promise<Reply> {
    this.#note("request", call);
    return Promise.resolve(DONE);
  }

  resume(resumeToken: string | undefined, peer: Peer): Promise<Reply> {
    this.#note("resume", resumeToken);
    this.peer = peer;
    return Promise.resolve(DONE);
  }

  handedOver(): void {
    this.#note("handedOver");
  }

  answer(resumeToken: string, reply: Reply): Promise<boolean> {
    this.#note("answer", resumeToken, reply);
    return Promise.resolve(true);
  }

  notify(call: Call): Promise<void> {
    this.#note("notify", call);
    return Promise.resolve();
  }

  listen(resumeToken: string | undefined): Promise<void> {
    this.#note("listen", resumeToken);
    return Promise.resolve();
  }

  unlisten(): void {
    this.#note("unlisten");
  }

  watched(resumeToken: string | undefined): Promise<object | undefined> {
    this.#note("watched", resumeToken);
    const { order } = this;
    return order instanceof Error ? Promise.reject(order) : Promise.resolve(order);
  }

  receive(watched: object): Promise<void> {
    this.#note("receive", watched);
    return Promise.resolve();
  }

  forgotten(lost: object): Promise<void> {
    this.#note("forgotten", lost);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#note("close");
    return Promise.resolve();
  }
}

interface Scene {
  readonly dispatch: Dispatch;
  /** By slug, as they were made. */
  readonly made: Map<string, FakeDispatch>;
  readonly saved: unknown[];
  readonly primed: unknown[][];
  newest: string | undefined;
}

/** @param used the servers that have sessions from an earlier life. */
function sceneOf(slugs: readonly [string, ...string[]], used: readonly string[] = []): Scene {
  const [first, ...others] = slugs.map((slug) => fakeServer(slug)) as [Server, ...Server[]];
  const isMerged = others.length > 0;
  const endpoint: Endpoint = { servers: [first, ...others], isMerged, keepsNames: !isMerged };
  const made = new Map<string, FakeDispatch>();
  const saved: unknown[] = [];
  const primed: unknown[][] = [];
  const unsolicited: Unsolicited = {
    ...{ notify: () => Promise.resolve(), ask: () => Promise.resolve(DONE), reopened: never },
    ...{ hasOpenStream: () => true, lastResumeToken: () => scene.newest },
    primed: (...given) => void primed.push(given),
  };
  const { dispatch } = sessionDispatch({
    requestScope: {
      ...{ endpoint, route: "/mcp", principal: "p", limits: defaultLimits(), waitUntil: never },
      ...{ feeds: { of: never }, keys: { ring: never, ringFor: never } as never },
    },
    ...{ client: CLIENT, unsolicited, savedInbox: undefined, saveInbox: never },
    connect({ slug }, _client, side) {
      const fake = new FakeDispatch(side);
      made.set(slug, fake);
      return fake;
    },
    source: { subscribe: never, unsubscribe: never },
    saved: { upstreams: Object.fromEntries(used.map((slug) => [slug, SAVED])) },
    save: (change) => void saved.push(change),
  });
  const scene: Scene = { dispatch, made, saved, primed, newest: undefined };
  return scene;
}

const PLACES = resumeTokenAmong(resumeTokenAmong(undefined, "a", "at a"), "b", "at b");

describe("several servers", () => {
  test("are listened to where they are in use, each from its own place", async ({ expect }) => {
    const { dispatch, made } = sceneOf(["a", "b", "constructor"], ["b", "a", "gone"]);
    await dispatch.listen(PLACES);
    expect([...made].map(([slug, { asked }]) => [slug, ...asked])).toEqual([
      ["a", ["listen", "at a"]],
      ["b", ["listen", "at b"]],
    ]);
    dispatch.unlisten();
    for (const { asked } of made.values()) expect(asked.at(-1)).toEqual(["unlisten"]);
  });

  test("are handed over together, but for those that cannot be", async ({ expect }) => {
    const { dispatch, made } = sceneOf(["a", "b", "c"], ["a", "b", "c"]);
    await dispatch.listen(undefined);
    const [a, b, c] = [...made.values()];
    if (b !== undefined) b.order = undefined;
    if (c !== undefined) c.order = new Error("down");
    expect(await dispatch.watched(PLACES)).toEqual({ a: a?.order });
    expect(a?.asked.at(-1)).toEqual(["watched", "at a"]);
    if (a !== undefined) a.order = undefined;
    // With nothing to hand over, they are heard where they are.
    expect(await dispatch.watched(PLACES)).toBeUndefined();
  });

  test("of which none is in use leave nothing to be watched", async ({ expect }) => {
    const { dispatch, made } = sceneOf(["a", "b"]);
    expect(await dispatch.watched(undefined)).toEqual({});
    await dispatch.close();
    expect(made.size).toBe(0);
  });

  test("get what a watch brought of theirs, with the place that is known of them", async ({
    expect,
  }) => {
    const { dispatch, made } = sceneOf(["a", "b"], ["a", "b"]);
    await dispatch.receive({ slug: "b", lastEventId: "7", known: PLACES });
    await dispatch.receive({ slug: "gone", lastEventId: "8", known: PLACES });
    await dispatch.forgotten({ slug: "b", sessionId: "s" });
    expect(made.get("b")?.asked).toEqual([
      ["receive", { slug: "b", lastEventId: "7", known: "at b" }],
      ["forgotten", { slug: "b", sessionId: "s" }],
    ]);
    expect(made.size).toBe(1);
  });

  test("are each taken up again by their own resume tokens", async ({ expect }) => {
    const { dispatch, made } = sceneOf(["a", "b"]);
    const peer: Peer = { notify: () => Promise.resolve(), ask: () => Promise.resolve(DONE) };
    const { signal } = new AbortController();
    const named = { result: { _meta: { "edgeway/server": "b" } } };
    expect(await dispatch.resume(serverResumeToken("b", "t"), peer, signal)).toEqual(named);
    await dispatch.resume(serverResumeToken("b"), peer, signal);
    await dispatch.answer(serverResumeToken("a", "asked"), DONE);
    await dispatch.answer(serverResumeToken("a"), DONE);
    await dispatch.answer("{}", DONE);
    expect(made.get("b")?.asked).toEqual([
      ["resume", "t"],
      ["resume", undefined],
    ]);
    expect(made.get("a")?.asked).toEqual([["answer", "asked", DONE]]);
    for (const lost of [
      undefined,
      serverResumeToken("gone", "t"),
      serverResumeToken("constructor"),
    ]) {
      expect(await dispatch.resume(lost, peer, signal)).toMatchObject({ error: { code: -32603 } });
    }
  });

  test("offer their places one after the other, and all are kept", ({ expect }) => {
    const scene = sceneOf(["a", "b"], ["a", "b"]);
    const [a, b] = ["a", "b"].map((slug) => {
      void scene.dispatch.listen(undefined);
      return scene.made.get(slug)?.side.unsolicited;
    });
    a?.primed("at a");
    expect(scene.primed.at(-1)).toEqual([resumeTokenAmong(undefined, "a", "at a"), true]);
    scene.newest = resumeTokenAmong(undefined, "a", "at a");
    b?.primed("at b");
    expect(scene.primed.at(-1)).toEqual([PLACES, true]);
    scene.newest = PLACES;
    a?.primed("at a later");
    expect(scene.primed.at(-1)?.[1]).toBe(false);
    expect(b?.lastResumeToken()).toBe("at b");
  });

  test("are all told what is for all, if they are in use, and are all closed", async ({
    expect,
  }) => {
    const { dispatch, made } = sceneOf(["a", "b", "c"], ["b", "c"]);
    const call = { method: "notifications/roots/list_changed" };
    await dispatch.notify(call);
    await dispatch.close();
    expect([...made].map(([slug, { asked }]) => [slug, ...asked])).toEqual([
      ["b", ["notify", call], ["close"]],
      ["c", ["notify", call], ["close"]],
    ]);
  });
});

describe("a server alone", () => {
  test("is listened to without having been used", async ({ expect }) => {
    const { dispatch, made } = sceneOf(["constructor"]);
    await dispatch.listen(resumeTokenAmong(undefined, "constructor", "here"));
    expect(await dispatch.watched(undefined)).toEqual({ constructor: { session: "s" } });
    expect(made.get("constructor")?.asked[0]).toEqual(["listen", "here"]);
  });

  test("that says nothing unasked leaves nothing to be watched, here or there", async ({
    expect,
  }) => {
    const { dispatch, made } = sceneOf(["a"]);
    await dispatch.listen(undefined);
    const a = made.get("a");
    if (a !== undefined) a.order = undefined;
    expect(await dispatch.watched(undefined)).toBeUndefined();
    if (a !== undefined) a.isSilent = true;
    expect(await dispatch.watched(undefined)).toEqual({});
  });

  test("is taken up again without a resume token, and says itself what is lost", async ({
    expect,
  }) => {
    const { dispatch, made } = sceneOf(["a"]);
    const peer: Peer = { notify: () => Promise.resolve(), ask: () => Promise.resolve(DONE) };
    await dispatch.resume(undefined, peer, new AbortController().signal);
    expect(made.get("a")?.asked).toEqual([["resume", undefined]]);
  });
});

test("what is saved of servers is kept by server, and dropped with it", async ({ expect }) => {
  const { dispatch, made, saved } = sceneOf(["a", "constructor"], ["a", "gone"]);
  await dispatch.receive({ slug: "constructor", lastEventId: "1" });
  made.get("constructor")?.side.save({ ...SAVED, sessionId: "new" });
  expect(saved).toEqual([{ upstreams: { a: SAVED, constructor: { ...SAVED, sessionId: "new" } } }]);
  expect(made.get("constructor")?.side.saved).toBeUndefined();
});
