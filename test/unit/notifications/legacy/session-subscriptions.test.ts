/**
 * The notifications of a session, under any order of subscribing, listening, news that comes
 * twice, and deaths of the session's holder: each change once, and nothing that was not asked for.
 */

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import {
  type Interests,
  LIST_TOPICS,
  type News,
  type Topic,
} from "../../../../src/catalog/feeds.ts";
import type { PublisherScope } from "../../../../src/catalog/request-scope.ts";
import type { OwnSessions } from "../../../../src/notifications/legacy/own-subscriptions.ts";
import type { SavedInbox } from "../../../../src/notifications/legacy/notification-inbox.ts";
import { EndpointSubscriptions } from "../../../../src/notifications/legacy/endpoint-subscriptions.ts";
import type { NewsSource } from "../../../../src/notifications/legacy/session-interests.ts";
import type { SavedWanted } from "../../../../src/notifications/legacy/session-subscriptions.ts";
import type { Listening } from "../../../../src/sessions/dispatch.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import type { Call } from "../../../../src/protocol/exchange.ts";
import { errorReply } from "../../../../src/protocol/json-rpc.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import { fakeCredentials } from "../../upstream/fake-credentials.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";
import { policy } from "../../catalog/routing/route-fixture.ts";

const MINUTE_MS = 60_000;
const A = fakeServer("a");
const B = fakeServer("constructor"); // a slug that every object has
const MERGED: Endpoint = { servers: [A, B], isMerged: true, keepsNames: false };
const ALONE: Endpoint = { servers: [A], isMerged: false, keepsNames: true };
const ALL_LISTS = LIST_TOPICS.map((list) => ({ method: `notifications/${list}/list_changed` }));
const LIST = { method: "notifications/tools/list_changed" };

const updated = (uri: string): Call => ({
  method: "notifications/resources/updated",
  params: { uri },
});

function interests(...entries: readonly (readonly [string, readonly Topic[]])[]): Interests {
  return Object.fromEntries(entries);
}

/** One session, whose holder may die, and the notifications of its client. */
/** Where several servers meet, a result says which of them it is of. */
const DONE_AT_A = { result: { _meta: { "edgeway/server": "a" } } };

class Scene implements NewsSource {
  readonly delivered: Call[] = [];
  readonly asked: Interests[] = [];
  /** Whether each was all that is wanted, of which the client was granted what it had asked for. */
  readonly renewed: boolean[] = [];
  /** The life that each call was of. */
  readonly lives: number[] = [];
  readonly left: (Interests | undefined)[] = [];
  honour: (interests: Interests) => Interests = (interests) => interests;
  /** What the client's own sessions are subscribed to: none, until it has called a tool. */
  readonly ownUris = new Set<string>();
  readonly own: OwnSessions = {
    saved: [],
    save: (slugs) => this.ownSaves.push(slugs),
    takesSubscriptions: async () => {
      await this.beginWait;
      return this.canOwn;
    },
    request: async (slug, { method, params }) => {
      const uri = String(params?.["uri"]);
      this.atOnce.push(++this.running);
      await this.ownWait;
      this.running -= 1;
      if (method === "resources/unsubscribe") this.ownUris.delete(`${slug} ${uri}`);
      else if (this.canOwn) this.ownUris.add(`${slug} ${uri}`);
      return this.canOwn ? { result: {} } : errorReply(-32_601, "No");
    },
  };
  readonly ownSaves: (readonly string[])[] = [];
  readonly atOnce: number[] = [];
  running = 0;
  ownWait: Promise<unknown> = Promise.resolve();
  /** Of the client's own session with a server, which is not there yet. */
  beginWait: Promise<unknown> = Promise.resolve();
  canOwn = true;
  most = 3;
  failures = 0;
  isListening = false;
  wanted: SavedWanted | undefined;
  inbox: SavedInbox | undefined;
  subscriptions: EndpointSubscriptions;
  /** Of an endpoint that a person's servers join. */
  publisher: PublisherScope | undefined;
  endpoint: Endpoint;
  #waiting: Promise<unknown>[] = [];

  constructor(endpoint: Endpoint = MERGED) {
    this.endpoint = endpoint;
    this.subscriptions = this.revive();
  }

  /** Another life of the holder, which knows what was saved. */
  revive(): EndpointSubscriptions {
    const current = (): Endpoint => this.endpoint;
    this.subscriptions = new EndpointSubscriptions({
      requestScope: {
        get endpoint() {
          return current();
        },
        waitUntil: (work) => void this.#waiting.push(work),
        publisher: this.publisher,
        limits: { ...defaultLimits(), subscribedUrisPerClient: this.most },
      },
      source: this,
      own: { ...this.own, saved: this.ownSaves.at(-1) ?? [] },
      isSilent: () => false,
      attributed: {
        hasOpenStream: () => this.isListening,
        notify: (call) => {
          this.delivered.push(call);
          return Promise.resolve();
        },
      },
      savedWanted: structuredClone(this.wanted),
      saveWanted: (wanted) => (this.wanted = structuredClone(wanted)),
      savedInbox: structuredClone(this.inbox),
      saveInbox: (inbox) => (this.inbox = structuredClone(inbox)),
    });
    return this.subscriptions;
  }

  subscribe(interests: Interests, life: number): Promise<Interests> {
    return this.#take(interests, life, false);
  }

  replace(interests: Interests, life: number, _pending: Interests): Promise<Interests> {
    return this.#take(interests, life, true);
  }

  #take(interests: Interests, life: number, isAll: boolean): Promise<Interests> {
    this.lives.push(life);
    if (this.failures-- > 0) return Promise.reject(new Error("It is being restarted"));
    this.asked.push(interests);
    this.renewed.push(isAll);
    return Promise.resolve(this.honour(interests));
  }

  unsubscribe(interests: Interests | undefined, life: number): Promise<void> {
    this.lives.push(life);
    this.left.push(interests);
    return Promise.resolve();
  }

  async settle(): Promise<void> {
    await Promise.all(this.#waiting.splice(0));
  }

  /** An operator has changed the servers. */
  async change(endpoint: Endpoint): Promise<void> {
    this.endpoint = endpoint;
    this.subscriptions.serversChanged();
    await this.settle();
  }

  async listen(listening: Listening = {}): Promise<void> {
    this.isListening = true;
    this.subscriptions.listened(listening);
    await this.settle();
  }

  news(slug: string, seq: number, ...topics: readonly Topic[]): string {
    return this.subscriptions.deliver({ slug, seq, topics });
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("at a server with accounts", () => {
  const credentials = fakeCredentials();
  const own: Server = {
    ...A,
    auth: { kind: "oauth" } as Server["auth"],
    target: { ...A.target, credentials },
  };
  const PERSONAL: Endpoint = { servers: [own, B], isMerged: true, keepsNames: false };

  beforeEach(() => {
    credentials.accountId = "a1";
    credentials.account = () => Promise.resolve(credentials.accountId);
  });

  test.for([{ when: "in the same life" }, { when: "in another life" }])(
    "what may have changed between two accounts is announced once, $when",
    async ({ when }, { expect }) => {
      const scene = new Scene(PERSONAL);
      await scene.subscriptions.subscribe(own, { uri: "x:" });
      await scene.subscriptions.subscribe(B, { uri: "z:" });
      await scene.listen();
      expect(scene.delivered).toEqual([]);
      credentials.account = () => Promise.resolve(undefined);
      await scene.listen();
      expect(scene.delivered).toEqual([]);
      credentials.account = () => Promise.resolve("a2");
      if (when === "in another life") scene.revive();
      for (const expected of [[...ALL_LISTS, updated("x:")], []]) {
        scene.delivered.length = 0;
        await scene.listen();
        expect(scene.delivered).toEqual(expected);
      }
      expect(scene.renewed.slice(0, 3)).toEqual([false, false, true]);
    },
  );

  test("a subscription asks for the account at its own server alone", async ({ expect }) => {
    let asked = 0;
    const account = (): Promise<string> => {
      asked += 1;
      return Promise.resolve("b1");
    };
    const others = { ...fakeCredentials(), account };
    const second = { ...B, target: { ...B.target, credentials: others } };
    const scene = new Scene({ ...PERSONAL, servers: [own, second] });
    await scene.subscriptions.subscribe(own, { uri: "x:" });
    expect(asked).toBe(0);
    await scene.subscriptions.subscribe(second, { uri: "z:" });
    expect(asked).toBe(1);
  });

  test("a vault that does not answer has ended no account", async ({ expect }) => {
    const scene = new Scene(PERSONAL);
    await scene.subscriptions.subscribe(own, { uri: "x:" });
    let failures = 3;
    credentials.account = () => {
      failures -= 1;
      return failures < 0 ? Promise.resolve("a2") : Promise.reject(new Error("It restarts"));
    };
    scene.isListening = true;
    scene.subscriptions.listened();
    await vi.advanceTimersByTimeAsync(5000);
    expect(scene.delivered).toContainEqual(updated("x:"));
  });

  test("an account that is connected while the fan-out is asked is asked for as well", async ({
    expect,
  }) => {
    const scene = new Scene(PERSONAL);
    credentials.account = () => Promise.resolve(undefined);
    let asked = 0;
    scene.honour = (interests) => {
      asked += 1;
      // The news of it has passed before the vault was asked for any.
      credentials.account = () => Promise.resolve("a2");
      return interests;
    };
    await scene.listen();
    expect(asked).toBe(2);
    await scene.listen();
    expect(asked).toBe(3);
  });

  test.for([{ when: "in the same life" }, { when: "in another life" }])(
    "a client that was given lists without asking its vault is told once that answers, $when",
    async ({ when }, { expect }) => {
      const scene = new Scene(PERSONAL);
      await scene.listen();
      credentials.account = () => Promise.reject(new Error("It is away"));
      scene.subscriptions.gaveLess();
      expect(scene.subscriptions.renewsAt).toBeDefined();
      scene.subscriptions.seen();
      await vi.advanceTimersByTimeAsync(5000);
      expect(scene.delivered).toEqual([]);
      expect(scene.subscriptions.renewsAt).toBeDefined();
      credentials.account = () => Promise.resolve("a1");
      for (const expected of [ALL_LISTS, []]) {
        scene.delivered.length = 0;
        if (when === "in another life") scene.revive();
        scene.subscriptions.seen();
        await scene.settle();
        expect(scene.delivered).toEqual(expected);
      }
      expect(scene.subscriptions.renewsAt).toBeUndefined();
    },
  );

  test("nothing is stored for a client that was given such lists, and does not listen", ({
    expect,
  }) => {
    const scene = new Scene(PERSONAL);
    scene.subscriptions.gaveLess();
    expect([scene.wanted, scene.subscriptions.renewsAt]).toEqual([undefined, undefined]);
  });

  describe("a resource that is asked for while the account is replaced", () => {
    /** The fan-out, which holds each topic under the account through which it was asked for. */
    class HoldingByAccount extends Scene {
      readonly held = new Set<string>();
      readonly renewals: Interests[] = [];
      subscribed: Promise<unknown> = Promise.resolve();
      arrives: Promise<unknown> = Promise.resolve();
      replaces: Promise<unknown> = Promise.resolve();

      override async subscribe(wanted: Interests): Promise<Interests> {
        const keyed = this.#keyed(wanted);
        await this.arrives;
        for (const topic of keyed) this.held.add(topic);
        await this.subscribed;
        return wanted;
      }

      override async replace(
        wanted: Interests,
        _life: number,
        pending: Interests,
      ): Promise<Interests> {
        this.renewals.push(wanted);
        await this.replaces;
        const kept = new Set([...this.#keyed(wanted), ...this.#keyed(pending)]);
        for (const topic of this.held) if (!kept.has(topic)) this.held.delete(topic);
        for (const topic of this.#keyed(wanted)) this.held.add(topic);
        return wanted;
      }

      #keyed(wanted: Interests): string[] {
        return (wanted["a"] ?? []).map((topic) => `${credentials.accountId} ${topic}`);
      }
    }

    test.for([
      { when: "is granted before the other topics have moved", order: ["subscribed", "replaces"] },
      { when: "is granted after the other topics have moved", order: ["replaces", "subscribed"] },
      { when: "arrives after the other topics have moved", order: ["replaces", "arrives"] },
    ] as const)("has it too, where it $when", async ({ order }, { expect }) => {
      const scene = new HoldingByAccount(PERSONAL);
      await scene.listen();
      const opened = order.map((gate) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        scene[gate] = promise;
        return resolve;
      });
      const answer = scene.subscriptions.subscribe(own, { uri: "x:" });
      await vi.advanceTimersByTimeAsync(0);
      credentials.accountId = "a2";
      scene.news("accounts/person p1", 1, ...LIST_TOPICS);
      await vi.advanceTimersByTimeAsync(0);
      for (const open of opened) {
        open();
        await vi.advanceTimersByTimeAsync(0);
      }
      expect(await answer).toEqual(DONE_AT_A);
      await scene.settle();
      expect([...scene.held].filter((topic) => topic.endsWith("uri:x:"))).toEqual(["a2 uri:x:"]);
      // Nobody watched it at that account as the client was told that it is subscribed.
      expect(scene.delivered.at(-1)).toEqual(updated("x:"));
      expect(scene.renewals).toHaveLength(3);
      scene.subscriptions.seen();
      await scene.settle();
      expect(scene.renewals).toHaveLength(3);
    });

    test("is asked for once where no account is replaced", async ({ expect }) => {
      const scene = new HoldingByAccount(PERSONAL);
      await scene.listen();
      const answer = scene.subscriptions.subscribe(own, { uri: "x:" });
      await scene.listen();
      expect(await answer).toEqual(DONE_AT_A);
      await scene.settle();
      expect(scene.renewals).toHaveLength(2);
      expect(scene.delivered).toEqual([]);
    });
  });
});

test("what only the client's own session announced is asked of the fan-out when that has ended", async ({
  expect,
}) => {
  const scene = new Scene();
  await scene.subscriptions.called(A);
  scene.honour = () => ({});
  await scene.subscriptions.subscribe(A, { uri: "y:" });
  scene.isListening = true;
  scene.honour = (interests) => interests;
  scene.asked.length = 0;
  scene.subscriptions.missed("a");
  await scene.settle();
  expect(scene.asked).toEqual([{ a: ["uri:y:"] }]);
  expect(scene.renewed.at(-1)).toBe(true);
  expect(scene.delivered).toEqual([updated("y:")]);
});

describe("once a tool of a server was called", () => {
  test("the session there is subscribed too, and the feed goes on", async ({ expect }) => {
    const scene = new Scene();
    scene.isListening = true;
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    await scene.subscriptions.subscribe(B, { uri: "z:" });
    await scene.subscriptions.called(A);
    await scene.settle();
    expect([...scene.ownUris]).toEqual(["a x:"]);
    expect(scene.left).toEqual([]);
    scene.news("a", 1, "uri:x:");
    expect(scene.delivered).toEqual([updated("x:")]);
  });

  test("what is subscribed to later is so at both, until it ends", async ({ expect }) => {
    const scene = new Scene();
    await scene.subscriptions.called(A);
    expect(await scene.subscriptions.subscribe(A, { uri: "x:" })).toEqual(DONE_AT_A);
    expect(scene.asked).toEqual([{ a: ["uri:x:"] }]);
    expect([...scene.ownUris]).toEqual(["a x:"]);
    expect(scene.subscriptions.ownUris("a")).toEqual(["x:"]);
    expect(scene.subscriptions.ownUris("constructor")).toEqual([]);
    scene.subscriptions.unsubscribe({ uri: "x:" });
    await scene.settle();
    expect([...scene.ownUris]).toEqual([]);
    expect(scene.left).toEqual([{ a: ["uri:x:"] }]);
  });

  test("a change that both announce is announced once, and two changes are two", async ({
    expect,
  }) => {
    const scene = new Scene();
    scene.isListening = true;
    const { subscriptions } = scene;
    await subscriptions.subscribe(A, { uri: "x:" });
    const own = (): boolean => subscriptions.passes("a", updated("x:"));
    expect([own(), own()]).toEqual([true, true]);
    scene.news("a", 1, "uri:x:");
    scene.news("a", 1, "uri:x:"); // it comes again
    expect(scene.delivered).toEqual([]);
    scene.news("a", 2, "uri:x:");
    expect(scene.delivered).toEqual([]);
    scene.news("a", 3, "uri:x:");
    expect(scene.delivered).toHaveLength(1);
    scene.news("a", 3, "uri:x:");
    expect([own(), own()]).toEqual([false, true]);
    vi.advanceTimersByTime(1000);
    scene.news("a", 4, "uri:x:");
    expect(scene.delivered).toHaveLength(2);
  });

  test("it passes on no change but what is wanted of it", async ({ expect }) => {
    const scene = new Scene();
    const { subscriptions } = scene;
    await scene.listen();
    await subscriptions.subscribe(A, { uri: "x:" });
    expect(subscriptions.passes("a", updated("y:"))).toBe(false);
    expect(subscriptions.passes("constructor", updated("x:"))).toBe(false);
    expect(subscriptions.passes("a", { method: updated("").method })).toBe(false);
    expect(subscriptions.passes("a", LIST)).toBe(false);
    expect(subscriptions.passes("unheard", LIST)).toBe(true);
    expect(subscriptions.passes("a", { method: "notifications/message" })).toBe(true);
  });

  test("all of it is subscribed four at a time, kept in one write, and not waited for long", async ({
    expect,
  }) => {
    const scene = new Scene();
    scene.most = 9;
    scene.revive();
    for (let n = 0; n < 9; n++) await scene.subscriptions.subscribe(A, { uri: `${n}:` });
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.ownWait = promise;
    const called = scene.subscriptions.called(A);
    await vi.advanceTimersByTimeAsync(1000);
    await called;
    expect(scene.ownUris.size).toBe(0);
    resolve();
    await scene.settle();
    expect(scene.ownUris.size).toBe(9);
    expect(Math.max(...scene.atOnce)).toBe(4);
    expect(scene.ownSaves).toEqual([["a"]]);
  });

  test.for([{ when: "in the same life" }, { when: "in another life" }])(
    "a resource that the feed announces only by now has changed when that session missed something, $when",
    async ({ when }, { expect }) => {
      const scene = new Scene();
      await scene.subscriptions.called(A);
      await scene.subscriptions.subscribe(A, { uri: "x:" });
      scene.honour = () => ({});
      expect(await scene.subscriptions.subscribe(A, { uri: "y:" })).toEqual(DONE_AT_A);
      scene.honour = (interests) => interests;
      if (when === "in another life") scene.revive();
      await scene.listen();
      for (const expected of [[updated("y:")], []]) {
        scene.delivered.length = 0;
        scene.subscriptions.missed("a");
        await scene.listen();
        expect(scene.delivered).toEqual(expected);
      }
    },
  );

  test("changes of a server that does not subscribe it come by the fan-out", async ({ expect }) => {
    const scene = new Scene();
    scene.isListening = true;
    scene.canOwn = false;
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    await scene.subscriptions.called(A);
    await scene.settle();
    expect(scene.left).toEqual([]);
    scene.news("a", 1, "uri:x:");
    expect(scene.delivered).toEqual([updated("x:")]);
  });
});

test("a session whose client was away for long goes offline, and subscribes again", async ({
  expect,
}) => {
  const scene = new Scene();
  await scene.listen();
  await scene.subscriptions.subscribe(A, { uri: "x:" });
  scene.isListening = false;
  scene.subscriptions.left(7);
  scene.revive();
  expect(scene.subscriptions.awaySince).toBe(7);
  scene.subscriptions.goOffline();
  await scene.settle();
  expect(scene.left).toEqual([undefined]);
  expect(scene.revive().isWatching).toBe(false);
  expect(scene.news("a", 1, "uri:x:")).toBe("offline");
  scene.asked.length = 0;
  await scene.listen();
  expect(scene.asked).toEqual([{ a: [...LIST_TOPICS, "uri:x:"], constructor: [...LIST_TOPICS] }]);
  expect(scene.delivered).toContainEqual(updated("x:"));
  expect(scene.revive().awaySince).toBeUndefined();
});

describe("a client to which no list was promised when it listened first", () => {
  test("since that life of the session ended learns, when it listens again, that lists may have changed", async ({
    expect,
  }) => {
    const scene = new Scene();
    await scene.listen();
    expect(scene.delivered).toEqual([]);
    // The fan-out has the session's interests, and this life does not know what they were.
    scene.wanted = undefined;
    scene.revive();
    scene.isListening = false;
    scene.news("a", 1, "tools");
    for (const expected of [ALL_LISTS, []]) {
      scene.delivered.length = 0;
      await scene.listen({ isAgain: true });
      expect(scene.delivered).toEqual(expected);
    }
  });

  test.for([{ when: "in the same life" }, { when: "in another life" }])(
    "since the fan-out could not be reached learns it when that promises some, $when",
    async ({ when }, { expect }) => {
      const scene = new Scene();
      scene.failures = 6;
      const listening = scene.listen();
      await vi.runAllTimersAsync();
      await listening;
      if (when === "in another life") scene.revive();
      for (const expected of [ALL_LISTS, []]) {
        scene.delivered.length = 0;
        scene.subscriptions.seen();
        await scene.settle();
        expect(scene.delivered).toEqual(expected);
      }
    },
  );

  test("since no server has any to announce is told nothing", async ({ expect }) => {
    const scene = new Scene();
    scene.honour = () => ({});
    for (const isAgain of [false, true]) await scene.listen({ isAgain });
    expect(scene.delivered).toEqual([]);
  });
});

describe("resources/subscribe", () => {
  test("is answered once it is known that there will be news, and stored then", async ({
    expect,
  }) => {
    const scene = new Scene();
    scene.honour = (interests) => {
      scene.honour = (others) => others;
      // Another life would take it for granted.
      expect(scene.wanted?.uris).toEqual([]);
      // News that is faster than the answer is not lost.
      scene.news("a", 1, "uri:x:");
      return interests;
    };
    expect(await scene.subscriptions.subscribe(A, { uri: "x:" })).toEqual(DONE_AT_A);
    expect(scene.wanted?.uris).toEqual([["x:", "a"]]);
    await scene.listen();
    expect(scene.delivered).toEqual([updated("x:")]);
  });

  test("of a resource that nothing will announce is refused, and forgotten", async ({ expect }) => {
    const scene = new Scene();
    scene.canOwn = false;
    scene.honour = () => ({});
    const reply = await scene.subscriptions.subscribe(B, { uri: "x:" });
    expect(reply).toMatchObject({ error: { code: -32602, data: { uri: "x:" } } });
    expect(JSON.stringify(reply)).toContain('Upstream \\"constructor\\"');
    expect(scene.wanted).toMatchObject({ uris: [] });
  });

  test("of a resource that the feed cannot announce is kept in the client's own session", async ({
    expect,
  }) => {
    const scene = new Scene();
    await scene.subscriptions.subscribe(B, { uri: "w:" });
    scene.honour = () => ({});
    expect(await scene.subscriptions.subscribe(B, { uri: "x:" })).toEqual({ result: {} });
    await scene.settle();
    // From now on that session is used, for all that is wanted of the server.
    expect([...scene.ownUris].toSorted()).toEqual(["constructor w:", "constructor x:"]);
    expect(scene.ownSaves).toEqual([["constructor"]]);
    expect(scene.subscriptions.ownUris("constructor")).toEqual(["w:", "x:"]);
    expect(scene.subscriptions.passes("constructor", updated("x:"))).toBe(true);
    scene.subscriptions.unsubscribe({ uri: "x:" });
    await scene.settle();
    expect([...scene.ownUris]).toEqual(["constructor w:"]);
  });

  test("that the client's own session is too slow for is refused, and not kept there", async ({
    expect,
  }) => {
    const scene = new Scene();
    scene.honour = () => ({});
    const { promise: slow, resolve: answer } = Promise.withResolvers<void>();
    scene.ownWait = slow;
    const reply = scene.subscriptions.subscribe(B, { uri: "x:" });
    await vi.runAllTimersAsync();
    expect(await reply).toMatchObject({ error: { code: -32602 } });
    answer();
    await scene.settle();
    expect([...scene.ownUris]).toEqual([]);
    expect(scene.wanted).toMatchObject({ uris: [] });
  });

  test("is tried again while the fan-out is being restarted, but not for ever", async ({
    expect,
  }) => {
    const scene = new Scene();
    scene.failures = 3;
    const late = scene.subscriptions.subscribe(A, { uri: "x:" });
    await vi.runAllTimersAsync();
    expect(await late).toEqual(DONE_AT_A);
    scene.failures = 1000;
    const never = scene.subscriptions.subscribe(A, { uri: "y:" });
    await vi.runAllTimersAsync();
    expect(await never).toMatchObject({ error: { code: -32603 } });
    expect(scene.wanted?.uris).toEqual([["x:", "a"]]);
  });

  test("moves with the resource when another server has it", async ({ expect }) => {
    const scene = new Scene();
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    await scene.subscriptions.subscribe(B, { uri: "x:" });
    await scene.settle();
    expect(scene.left).toEqual([{ a: ["uri:x:"] }]);
    scene.isListening = true;
    scene.news("a", 1, "uri:x:");
    scene.news("constructor", 1, "uri:x:");
    expect(scene.delivered).toEqual([updated("x:")]);
  });

  test("that moves back while it moves stays where it is at last", async ({ expect }) => {
    const scene = new Scene();
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    const both = [B, A].map((server) => scene.subscriptions.subscribe(server, { uri: "x:" }));
    await Promise.all(both);
    await scene.settle();
    expect(scene.left).toEqual([{ constructor: ["uri:x:"] }]);
    expect(scene.wanted).toMatchObject({ uris: [["x:", "a"]] });
  });

  test("has a limit, and one of all characters together", async ({ expect }) => {
    const scene = new Scene();
    for (const uri of ["1:", "2:"]) await scene.subscriptions.subscribe(A, { uri });
    const long = await scene.subscriptions.subscribe(A, { uri: "x".repeat(262_144) });
    expect(long).toMatchObject({ error: { code: -32602 } });
    await scene.subscriptions.subscribe(A, { uri: "3:" });
    expect(await scene.subscriptions.subscribe(A, { uri: "4:" })).toMatchObject({
      error: { code: -32602, data: { uri: "4:" } },
    });
    expect(await scene.subscriptions.subscribe(A, { uri: "3:" })).toEqual(DONE_AT_A);
  });
});

/** Its fan-out takes away what a replacement does not name. */
class Holding extends Scene {
  readonly held = new Set<Topic>();
  readonly replaced: { readonly interests: Interests; readonly pending: Interests }[] = [];
  /** What arrives waits for these. */
  readonly gates = { subscribe: Promise.resolve(), replace: Promise.resolve() };
  /** No unsubscription arrives. */
  isDeaf = false;

  /** A Holding whose client listens. */
  static async listening(endpoint: Endpoint): Promise<Holding> {
    const scene = new Holding(endpoint);
    await scene.listen();
    return scene;
  }

  /** Nothing of this kind arrives until the returned function is called. */
  block(way: keyof Holding["gates"]): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gates[way] = promise;
    return resolve;
  }

  override async subscribe(interests: Interests): Promise<Interests> {
    await this.gates.subscribe;
    return this.#hold(interests);
  }

  override async replace(
    interests: Interests,
    _life: number,
    pending: Interests,
  ): Promise<Interests> {
    await this.gates.replace;
    const kept = new Set(Object.values(pending).flat());
    for (const topic of this.held) if (!kept.has(topic)) this.held.delete(topic);
    this.replaced.push({ interests, pending });
    return this.#hold(interests);
  }

  override async unsubscribe(interests: Interests | undefined, life: number): Promise<void> {
    if (this.isDeaf) throw new Error("It is being restarted");
    await super.unsubscribe(interests, life);
    if (interests === undefined) this.held.clear();
    for (const topic of Object.values(interests ?? {}).flat()) this.held.delete(topic);
  }

  #hold(interests: Interests): Interests {
    const honoured = this.honour(interests);
    for (const topic of Object.values(honoured).flat()) this.held.add(topic);
    return honoured;
  }
}

describe("while the interests of the session are replaced", () => {
  const VERSIONED: Endpoint = { ...MERGED, version: 1 };

  async function replacing(
    act: (scene: Holding) => Promise<unknown>,
  ): Promise<readonly [scene: Holding, answer: unknown]> {
    const scene = await Holding.listening(VERSIONED);
    const release = scene.block("replace");
    scene.subscriptions.serversChanged();
    await vi.advanceTimersByTimeAsync(0);
    const acted = act(scene);
    // What was asked for has been sent by then, if it waits for nothing.
    await vi.advanceTimersByTimeAsync(0);
    release();
    await scene.settle();
    return [scene, await acted];
  }

  test("a resource that is asked for stays", async ({ expect }) => {
    const [scene, answer] = await replacing(({ subscriptions }) =>
      subscriptions.subscribe(A, { uri: "x:" }),
    );
    expect(answer).toEqual(DONE_AT_A);
    expect(scene.held).toContain("uri:x:");
  });

  test("a resource that was asked for before stays, and is not taken for one that was granted", async ({
    expect,
  }) => {
    const scene = await Holding.listening(VERSIONED);
    const release = scene.block("subscribe");
    const asked = scene.subscriptions.subscribe(A, { uri: "x:" });
    await vi.advanceTimersByTimeAsync(0);
    // It has arrived, and its server has not answered.
    scene.held.add("uri:x:");
    scene.subscriptions.serversChanged();
    await vi.advanceTimersByTimeAsync(0);
    const replaced = scene.replaced.at(-1);
    expect(replaced?.pending).toEqual({ a: ["uri:x:"] });
    expect(replaced?.interests["a"]).not.toContain("uri:x:");
    expect(scene.held).toContain("uri:x:");
    release();
    expect(await asked).toEqual(DONE_AT_A);
    scene.subscriptions.serversChanged();
    await scene.settle();
    expect(scene.replaced.at(-1)).toMatchObject({
      ...{ interests: { a: expect.arrayContaining(["uri:x:"]) }, pending: {} },
    });
  });

  test("a resource that the fan-out has refused is not named while the client's own session is opened", async ({
    expect,
  }) => {
    const scene = await Holding.listening(VERSIONED);
    scene.canOwn = false;
    scene.honour = ({ a = [] }) => ({ a: a.filter((topic) => topic !== "uri:x:") });
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.beginWait = promise;
    const asked = scene.subscriptions.subscribe(A, { uri: "x:" });
    await vi.advanceTimersByTimeAsync(0);
    scene.subscriptions.serversChanged();
    await vi.advanceTimersByTimeAsync(0);
    expect(scene.replaced.at(-1)?.pending).toEqual({ a: ["uri:x:"] });
    expect(scene.replaced.at(-1)?.interests["a"]).not.toContain("uri:x:");
    resolve();
    expect(await asked).toMatchObject({ error: { code: -32602 } });
    scene.subscriptions.serversChanged();
    await scene.settle();
    expect(scene.replaced.at(-1)?.pending).toEqual({});
  });

  test("a resource that is not granted yet is not announced, whatever its client's own session missed", async ({
    expect,
  }) => {
    const scene = new Holding(VERSIONED);
    await scene.subscriptions.called(A);
    const release = scene.block("subscribe");
    const asked = scene.subscriptions.subscribe(A, { uri: "x:" });
    await vi.advanceTimersByTimeAsync(0);
    scene.isListening = true;
    scene.subscriptions.listened();
    await vi.advanceTimersByTimeAsync(0);
    scene.subscriptions.missed("a");
    await vi.advanceTimersByTimeAsync(0);
    expect(scene.delivered).toEqual([]);
    release();
    expect(await asked).toEqual(DONE_AT_A);
  });

  test("the end of an elicitation that is asked for stays", async ({ expect }) => {
    const [scene] = await replacing(({ subscriptions }) =>
      subscriptions.asked({ slug: "a", elicitationId: "e" }),
    );
    await scene.settle();
    expect([...scene.held].filter((topic) => topic.startsWith("ask:"))).toHaveLength(1);
  });
});

describe("at a server that an operator takes away and gives back", () => {
  const THERE: Endpoint = { ...MERGED, version: 1 };
  const AWAY: Endpoint = { ...THERE, servers: [B], version: 2 };
  const BACK: Endpoint = { ...THERE, version: 3 };

  test.for([{ when: "in one life" }, { when: "in another life" }])(
    "a subscription stays, and what may have changed is announced once, $when",
    async ({ when }, { expect }) => {
      const scene = new Scene(THERE);
      await scene.subscriptions.subscribe(A, { uri: "x:" });
      await scene.listen();
      await scene.change(AWAY);
      expect(Object.keys(scene.asked.at(-1) ?? {})).not.toContain("a");
      scene.delivered.length = 0;
      if (when === "in another life") scene.revive();
      await scene.change(BACK);
      expect(scene.asked.at(-1)?.["a"]).toContain("uri:x:");
      expect(scene.delivered.splice(0)).toEqual([...ALL_LISTS, updated("x:"), ...ALL_LISTS]);
      await scene.change({ ...BACK, version: 4 });
      expect(scene.delivered).toEqual(ALL_LISTS);
    },
  );

  test("the same holds where the person who publishes the server pauses it", async ({ expect }) => {
    const scene = new Scene(MERGED);
    scene.publisher = { person: "ann" };
    scene.revive();
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    await scene.listen();
    const away: Endpoint = { ...MERGED, servers: [B] };
    for (const endpoint of [away, MERGED]) {
      scene.endpoint = endpoint;
      scene.delivered.length = 0;
      scene.subscriptions.publishedChanged();
      await scene.settle();
    }
    expect(scene.delivered).toEqual([...ALL_LISTS, updated("x:"), ...ALL_LISTS]);
  });

  test("what a fan-out that cannot be reached has not promised is announced later", async ({
    expect,
  }) => {
    const scene = new Scene(THERE);
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    await scene.listen();
    await scene.change(AWAY);
    scene.delivered.length = 0;
    scene.failures = Infinity;
    scene.endpoint = BACK;
    scene.subscriptions.serversChanged();
    await vi.runAllTimersAsync();
    expect(scene.delivered).toEqual(ALL_LISTS);
    scene.failures = 0;
    scene.subscriptions.seen();
    await scene.settle();
    expect(scene.delivered).toEqual([...ALL_LISTS, updated("x:"), ...ALL_LISTS]);
  });

  test("its lists are announced when it is back, and again when they are watched", async ({
    expect,
  }) => {
    const scene = await Holding.listening(AWAY);
    const release = scene.block("replace");
    scene.endpoint = BACK;
    scene.subscriptions.serversChanged();
    await vi.advanceTimersByTimeAsync(0);
    expect(scene.delivered.splice(0)).toEqual(ALL_LISTS);
    release();
    await scene.settle();
    expect(scene.delivered.splice(0)).toEqual(ALL_LISTS);
    scene.subscriptions.seen();
    scene.subscriptions.serversChanged();
    await scene.settle();
    expect(scene.delivered).toEqual([]);
  });

  test("its lists are announced again when it comes while others are still asked for", async ({
    expect,
  }) => {
    const scene = await Holding.listening(AWAY);
    const release = scene.block("replace");
    for (const endpoint of [
      { ...AWAY, version: 3 },
      { ...BACK, version: 4 },
    ]) {
      scene.endpoint = endpoint;
      scene.subscriptions.serversChanged();
      await vi.advanceTimersByTimeAsync(0);
    }
    scene.delivered.length = 0;
    release();
    await scene.settle();
    expect(scene.delivered).toEqual(ALL_LISTS);
  });

  test("a subscription can be ended while the server is away", async ({ expect }) => {
    const scene = new Scene(THERE);
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    await scene.listen();
    await scene.change(AWAY);
    scene.delivered.length = 0;
    scene.subscriptions.unsubscribe({ uri: "x:" });
    expect(scene.wanted).not.toHaveProperty("away");
    await scene.change(BACK);
    expect(scene.delivered).toEqual([...ALL_LISTS, ...ALL_LISTS]);
  });

  test("a resource that is hidden when the server is back is forgotten", async ({ expect }) => {
    const scene = new Scene(THERE);
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    await scene.listen();
    await scene.change(AWAY);
    scene.delivered.length = 0;
    const narrowed = { ...A, resources: policy(undefined, ["x:*"]) };
    await scene.change({ ...BACK, servers: [narrowed, B] });
    expect(scene.delivered).toEqual([...ALL_LISTS, ...ALL_LISTS]);
    expect(scene.wanted?.uris).toEqual([]);
  });
});

describe("a life of the session that ends before the client is told of other servers", () => {
  const VERSIONED: Endpoint = { ...MERGED, version: 1 };

  test("is followed by one that tells it, once", async ({ expect }) => {
    const scene = new Scene(VERSIONED);
    await scene.listen();
    scene.endpoint = { ...VERSIONED, version: 2 };
    for (const expected of [ALL_LISTS, [], []]) {
      scene.revive().seen();
      await scene.settle();
      await scene.change(scene.endpoint);
      expect(scene.delivered.splice(0)).toEqual(expected);
    }
  });

  test("is of an earlier version of the gateway, which stored nothing of the kind: the client is told", async ({
    expect,
  }) => {
    const scene = new Scene(VERSIONED);
    await scene.listen();
    const { version: _, ...saved } = scene.wanted ?? { uris: [] };
    scene.wanted = saved;
    await scene.change({ ...VERSIONED, version: 2 });
    scene.delivered.length = 0;
    scene.wanted = saved;
    scene.revive();
    await scene.change({ ...VERSIONED, version: 2 });
    expect(scene.delivered).toEqual(ALL_LISTS);
  });

  test("tells a client nothing that did not listen", async ({ expect }) => {
    const scene = new Scene(VERSIONED);
    scene.isListening = false;
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    scene.endpoint = { ...VERSIONED, version: 2 };
    scene.revive().seen();
    await scene.settle();
    await scene.listen();
    expect(scene.delivered).toEqual([]);
  });
});

describe("what is left over at the fan-out", () => {
  test("of a resource that was refused while a renewal named it goes", async ({ expect }) => {
    const scene = new Holding();
    scene.canOwn = false;
    scene.honour = () => ({});
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.gates.subscribe = promise;
    const reply = scene.subscriptions.subscribe(A, { uri: "x:" });
    await vi.advanceTimersByTimeAsync(0);
    // The server does not answer this one, and so it keeps what the client is taken to have had.
    scene.gates.replace = promise.then(() => {
      scene.honour = (interests) => interests;
    });
    scene.isListening = true;
    scene.subscriptions.listened();
    scene.news("a", 1, "uri:x:");
    await vi.advanceTimersByTimeAsync(0);
    resolve();
    expect(await reply).toMatchObject({ error: { code: -32602 } });
    await scene.settle();
    await scene.settle();
    expect([...scene.held]).toEqual([...LIST_TOPICS]);
  });

  test("of a subscription that was refused without an answer goes", async ({ expect }) => {
    const scene = new Holding();
    scene.isListening = false;
    // It arrives, and its answer does not.
    scene.honour = (interests) => {
      for (const topic of Object.values(interests).flat()) scene.held.add(topic);
      throw new Error("It is being restarted");
    };
    const reply = scene.subscriptions.subscribe(A, { uri: "x:" });
    scene.news("a", 1, "uri:x:");
    await vi.runAllTimersAsync();
    expect(await reply).toMatchObject({ error: { code: -32603 } });
    await scene.settle();
    expect([...scene.held]).toEqual([]);
    // Nor is the client told of what it did not get.
    scene.honour = (interests) => interests;
    await scene.listen();
    expect(scene.delivered).toEqual([]);
  });

  test.for([{ when: "in the same life" }, { when: "in another life" }])(
    "by an unsubscription that did not arrive goes when the client is seen again, $when",
    async ({ when }, { expect }) => {
      const scene = new Holding(ALONE);
      await scene.subscriptions.subscribe(A, { uri: "x:" });
      scene.isDeaf = true;
      scene.subscriptions.unsubscribe({ uri: "x:" });
      await scene.settle();
      expect([...scene.held]).toEqual(["uri:x:"]);
      if (when === "in another life") scene.revive();
      scene.subscriptions.seen();
      await scene.settle();
      expect([...scene.held]).toEqual([]);
    },
  );

  test("by an unsubscription that did not arrive goes with the session", async ({ expect }) => {
    const scene = new Holding(ALONE);
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    scene.isDeaf = true;
    scene.subscriptions.unsubscribe({ uri: "x:" });
    await scene.settle();
    scene.isDeaf = false;
    await scene.subscriptions.end();
    expect([...scene.held]).toEqual([]);
  });

  test("of a server that an operator has taken away goes when the client is seen again", async ({
    expect,
  }) => {
    const scene = new Holding(MERGED);
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    await scene.subscriptions.subscribe(B, { uri: "z:" });
    scene.endpoint = { ...MERGED, servers: [B] };
    scene.subscriptions.serversChanged();
    scene.subscriptions.seen();
    await scene.settle();
    expect([...scene.held]).toEqual(["uri:z:"]);
  });
});

test("an unsubscription does not undo the subscription that follows it", async ({ expect }) => {
  const scene = new Scene();
  const { subscriptions } = scene;
  await subscriptions.subscribe(A, { uri: "x:" });
  subscriptions.unsubscribe({ uri: "x:" });
  await subscriptions.subscribe(A, { uri: "x:" });
  await scene.settle();
  const order = scene.asked.length * 10 + scene.left.length;
  expect(order).toBe(21);
  scene.isListening = true;
  scene.news("a", 1, "uri:x:");
  expect(scene.delivered).toEqual([updated("x:")]);
});

test("each life that calls the fan-out has a greater number, which is saved before it calls", async ({
  expect,
}) => {
  const scene = new Scene();
  const saved: (number | undefined)[] = [];
  scene.honour = (interests) => {
    saved.push(scene.wanted?.life);
    return interests;
  };
  await scene.listen();
  await scene.subscriptions.subscribe(A, { uri: "x:" });
  scene.revive(); // this one does not call
  scene.revive().seen();
  await scene.settle();
  expect(scene.lives).toEqual(saved);
  const [first = 0, second, third = 0] = saved;
  expect(second).toBe(first);
  expect(third).toBeGreaterThan(first);
  // What was saved of it may be lost: an earlier version does not keep it.
  vi.setSystemTime(Date.now() + 1000);
  scene.wanted = { uris: [] };
  await scene.revive().end();
  expect(scene.lives.at(-1)).toBeGreaterThan(third);
});

describe("who wants something", () => {
  test("says so again when the client listens, and when it is seen in another life", async ({
    expect,
  }) => {
    const scene = new Scene();
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    scene.asked.length = 0;
    await scene.listen();
    const lists = [...LIST_TOPICS];
    const all = { a: [...lists, "uri:x:"], constructor: lists };
    expect(scene.asked).toEqual([all]);
    scene.subscriptions.seen();
    await scene.settle();
    expect(scene.asked).toHaveLength(1);
    scene.revive().seen();
    scene.subscriptions.seen();
    await scene.settle();
    expect(scene.asked).toEqual([all, all]);
  });

  test.for([{ when: "in the same life" }, { when: "in another life" }])(
    "says so again when the fan-out could not be reached, whatever news it has brought since, $when",
    async ({ when }, { expect }) => {
      const scene = new Scene();
      await scene.subscriptions.called(A);
      await scene.subscriptions.subscribe(A, { uri: "x:" });
      scene.failures = 6;
      // The client's own session announces it, but may end.
      const subscribed = scene.subscriptions.subscribe(A, { uri: "y:" });
      await vi.runAllTimersAsync();
      expect(await subscribed).toEqual(DONE_AT_A);
      if (when === "in another life") scene.revive();
      scene.news("a", 1, "uri:x:");
      scene.subscriptions.seen();
      await scene.settle();
      expect(scene.asked.at(-1)).toEqual({ a: ["uri:x:", "uri:y:"] });
    },
  );

  test("and has one server gets list changes from that server's session", async ({ expect }) => {
    const scene = new Scene(ALONE);
    await scene.listen();
    expect(scene.asked).toEqual([]);
    scene.news("a", 1, "tools");
    expect(scene.delivered).toEqual([]);
  });

  test("and reads the lists of the only server itself is told of what that reports to it alone", async ({
    expect,
  }) => {
    const scene = new Scene(ALONE);
    // So the fan-out is asked for the lists as well: the person's servers may join.
    scene.publisher = { person: "ann" };
    scene.honour = () => interests(["a", ["tools"]]);
    for (const endpoint of [ALONE, MERGED]) {
      scene.endpoint = endpoint;
      scene.revive();
      await scene.listen();
      expect(scene.wanted?.lists).toEqual({ a: ["tools"] });
      expect(scene.subscriptions.passes("a", LIST)).toBe(endpoint === ALONE);
    }
    // What the fan-out announces within a second may be another change.
    scene.endpoint = ALONE;
    expect(scene.subscriptions.passes("a", LIST)).toBe(true);
    scene.news("a", 1, "tools");
    expect(scene.delivered).toEqual([LIST]);
  });

  test("knows over lives which servers promised to announce their lists", async ({ expect }) => {
    const scene = new Scene();
    scene.honour = () => interests(["constructor", ["tools"]]);
    await scene.listen();
    const prompts = { method: "notifications/prompts/list_changed" };
    for (const subscriptions of [scene.subscriptions, scene.revive()]) {
      expect(subscriptions.passes("constructor", LIST)).toBe(false);
      expect(subscriptions.passes("constructor", prompts)).toBe(true);
      expect(subscriptions.passes("a", LIST)).toBe(true);
    }
  });

  test("and ends says so, unless there is nothing", async ({ expect }) => {
    const idle = new Scene();
    await idle.subscriptions.end();
    expect(idle.left).toEqual([]);
    const scene = new Scene();
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    await scene.revive().end();
    expect(scene.left).toEqual([undefined]);
  });

  test("and ends while its interests are on their way takes them back when they have arrived", async ({
    expect,
  }) => {
    const scene = new Scene();
    const { promise, resolve: arrive } = Promise.withResolvers<void>();
    const arrived: string[] = [];
    scene.replace = async (asked) => {
      await promise;
      arrived.push("replace");
      return asked;
    };
    scene.unsubscribe = () => {
      arrived.push("unsubscribe");
      return Promise.resolve();
    };
    scene.subscriptions.listened();
    await vi.advanceTimersByTimeAsync(0);
    await scene.subscriptions.end();
    arrive();
    await scene.settle();
    expect(arrived).toEqual(["unsubscribe", "replace", "unsubscribe"]);
  });
});

describe("when a person publishes other servers", () => {
  test("a client whose endpoint they join is told once, and they are asked for", async ({
    expect,
  }) => {
    const scene = new Scene();
    scene.publisher = { person: "ann", version: () => 1 };
    scene.revive();
    await scene.listen();
    expect(scene.delivered).toEqual([]);
    scene.asked.length = 0;
    scene.subscriptions.publishedChanged();
    await scene.settle();
    // The list was read before the news is passed on.
    expect(scene.news("published/ann", 1, "tools", "version:1")).toBe("taken");
    expect(scene.delivered).toEqual(ALL_LISTS);
    expect(scene.asked).toEqual([{ a: [...LIST_TOPICS], constructor: [...LIST_TOPICS] }]);
    expect(scene.renewed.at(-1)).toBe(true);
  });

  test("a client that has one server is told of nothing, and its server asked for", async ({
    expect,
  }) => {
    const scene = new Scene(ALONE);
    await scene.listen();
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    scene.asked.length = 0;
    scene.subscriptions.publishedChanged();
    await scene.settle();
    expect([scene.delivered, scene.asked]).toEqual([[], [{ a: ["uri:x:"] }]]);
  });
});

test("a client that returns while its fan-out cannot be reached is told again once it can", async ({
  expect,
}) => {
  const scene = new Scene();
  await scene.listen();
  await scene.subscriptions.subscribe(B, { uri: "x:" });
  scene.isListening = false;
  scene.subscriptions.goOffline();
  await scene.settle();
  scene.isListening = true;
  scene.failures = Infinity;
  scene.subscriptions.listened();
  await vi.runAllTimersAsync();
  expect(scene.delivered).toEqual([...ALL_LISTS, updated("x:")]);
  scene.failures = 0;
  scene.revive().seen();
  await scene.settle();
  expect(scene.delivered.slice(4)).toEqual([...ALL_LISTS, updated("x:")]);
  scene.subscriptions.seen();
  await scene.settle();
  expect(scene.delivered).toHaveLength(8);
});

describe("a renewal that has failed", () => {
  const DUE_MS = 30_000;

  test("is due half a minute later, though the client says nothing, until one has succeeded", async ({
    expect,
  }) => {
    const scene = new Scene();
    scene.failures = Infinity;
    scene.isListening = true;
    scene.subscriptions.listened();
    expect(scene.subscriptions.renewsAt).toBeUndefined();
    for (const attempts of [6, 12]) {
      await vi.advanceTimersByTimeAsync(5000);
      expect(scene.lives).toHaveLength(attempts);
      expect(scene.subscriptions.renewsAt).toBeGreaterThan(Date.now());
      expect(scene.subscriptions.renewsAt).toBeLessThanOrEqual(Date.now() + DUE_MS);
      await vi.advanceTimersByTimeAsync(DUE_MS);
      expect(scene.lives).toHaveLength(attempts);
      scene.subscriptions.seen();
    }
    await vi.advanceTimersByTimeAsync(5000);
    scene.failures = 0;
    scene.subscriptions.seen();
    await scene.settle();
    expect(scene.subscriptions.renewsAt).toBeUndefined();
    expect(scene.delivered).toEqual(ALL_LISTS);
  });

  test("is not due in another life, which knows by its alarm that something is", async ({
    expect,
  }) => {
    const scene = new Scene();
    await scene.listen();
    expect(scene.revive().renewsAt).toBeUndefined();
  });

  test("is due for an elicitation of which the fan-out has not learned", async ({ expect }) => {
    const scene = new Scene();
    scene.failures = 6;
    const asked = scene.subscriptions.asked({ slug: "a", elicitationId: "e1" });
    await vi.advanceTimersByTimeAsync(5000);
    await asked;
    expect(scene.subscriptions.renewsAt).toBeDefined();
  });

  test("is not due for a client that wants nothing, or has not listened for long", async ({
    expect,
  }) => {
    const scene = new Scene();
    scene.failures = Infinity;
    const refused = scene.subscriptions.subscribe(A, { uri: "x:" });
    await vi.advanceTimersByTimeAsync(5000);
    expect(await refused).toHaveProperty("error");
    expect(scene.subscriptions.renewsAt).toBeUndefined();
    scene.subscriptions.listened();
    await vi.advanceTimersByTimeAsync(5000);
    expect(scene.subscriptions.renewsAt).toBeDefined();
    scene.subscriptions.goOffline();
    expect(scene.subscriptions.renewsAt).toBeUndefined();
  });
});

describe("a client that is away", () => {
  test("for long goes offline, and learns once, on its return, that everything may have changed", async ({
    expect,
  }) => {
    const scene = new Scene();
    await scene.listen();
    await scene.subscriptions.subscribe(B, { uri: "x:" });
    scene.isListening = false;
    expect(scene.news("a", 1, "tools")).toBe("taken");
    const { retentionMinutes } = defaultLimits();
    vi.setSystemTime(Date.now() + retentionMinutes * MINUTE_MS);
    expect(scene.news("a", 2, "tools")).toBe("taken");
    vi.setSystemTime(Date.now() + MINUTE_MS);
    scene.revive();
    expect(scene.news("a", 3, "prompts")).toBe("offline");
    scene.revive();
    expect(scene.news("constructor", 1, "uri:x:")).toBe("offline");
    // Only calling is not listening: nobody is asked for news that cannot be told.
    scene.asked.length = 0;
    scene.subscriptions.seen();
    expect(scene.asked).toEqual([]);
    scene.honour = () => interests(["a", ["tools"]], ["constructor", ["tools", "uri:x:"]]);
    await scene.listen();
    expect(scene.delivered).toEqual([LIST, updated("x:")]);
    expect(scene.news("a", 4, "tools")).toBe("taken");
    expect(scene.delivered).toHaveLength(3);
    await scene.listen();
    scene.revive();
    await scene.listen();
    expect(scene.delivered).toHaveLength(3);
  });

  test("and for which changes waited in vain learns, on its return, that everything may have changed", async ({
    expect,
  }) => {
    const scene = new Scene(ALONE);
    await scene.listen({ hasMissed: true });
    expect(scene.delivered).toEqual([]);
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    scene.isListening = false;
    await scene.listen({ hasMissed: true });
    expect(scene.delivered).toEqual([updated("x:")]);
    await scene.listen();
    expect(scene.delivered).toHaveLength(1);
  });

  test("does not answer that it is offline while its client returns", async ({ expect }) => {
    const scene = new Scene();
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    scene.inbox = { seqs: {}, isParked: true };
    scene.revive();
    scene.honour = (interests) => {
      // The news is of after the subscription: whoever brings it must not forget it.
      expect(scene.news("a", 5, "uri:x:")).toBe("taken");
      return interests;
    };
    await scene.listen();
    expect(scene.inbox).not.toHaveProperty("isParked");
  });

  test("and leaves again before it was notified is notified on its return", async ({ expect }) => {
    const scene = new Scene(ALONE);
    await scene.subscriptions.subscribe(A, { uri: "x:" });
    scene.inbox = { seqs: {}, isParked: true };
    scene.revive();
    scene.honour = (interests) => {
      scene.isListening = false;
      return interests;
    };
    await scene.listen();
    expect(scene.delivered).toEqual([]);
    scene.honour = (interests) => interests;
    await scene.listen();
    expect(scene.delivered).toEqual([updated("x:")]);
  });
});

/** A session whose client has listened, and has no stream any more. */
async function wasAway(): Promise<Scene> {
  const scene = new Scene();
  await scene.listen();
  scene.isListening = false;
  return scene;
}

describe("a session that was away for long and ends leaves nothing at the fan-out", () => {
  test("where its object dies as its client is back", async ({ expect }) => {
    const scene = await wasAway();
    scene.subscriptions.goOffline();
    await scene.settle();
    scene.left.length = 0;
    const { promise: never } = Promise.withResolvers<Interests>();
    const replace = scene.replace.bind(scene);
    // The fan-out has the interests, and the answer does not arrive in this life.
    scene.replace = async (...asked) => {
      await replace(...asked);
      return never;
    };
    scene.isListening = true;
    scene.subscriptions.listened({ isAgain: true });
    await vi.advanceTimersByTimeAsync(0);
    scene.replace = replace;
    scene.revive();
    await scene.subscriptions.end();
    expect(scene.left).toEqual([undefined]);
  });

  test("where the fan-out was not reached as it was to forget the session", async ({ expect }) => {
    const scene = await wasAway();
    const unsubscribe = scene.unsubscribe.bind(scene);
    scene.unsubscribe = () => Promise.reject(new Error("It is being restarted"));
    scene.subscriptions.goOffline();
    await scene.settle();
    scene.unsubscribe = unsubscribe;
    scene.revive();
    await scene.subscriptions.end();
    expect(scene.left).toEqual([undefined]);
  });
});

test("what is forbidden since is not announced in another life", async ({ expect }) => {
  const resources = policy(["x:*", "db:{table}", "y:1"], ["x:secret/*"]);
  const scene = new Scene({ ...MERGED, servers: [{ ...A, resources }, B] });
  scene.isListening = true;
  scene.wanted = {
    uris: ["x:secret/1", "x:secret//1", "x:SECRET/1?", "z:1", "x:1", "db:users", "y:1"].map(
      (uri) => [uri, "a"] as const,
    ),
  };
  scene.revive();
  for (const [index, [uri]] of scene.wanted.uris.entries()) scene.news("a", index, `uri:${uri}`);
  expect(scene.delivered).toEqual(["x:1", "db:users", "y:1"].map(updated));
});

type Step =
  | { readonly do: "subscribe" | "unsubscribe"; readonly uri: string }
  | { readonly do: "news"; readonly slug: string; readonly topics: readonly Topic[] }
  | { readonly do: "again"; readonly back: number }
  | { readonly do: "listen" | "leave" | "die" };

const uri = fc.constantFrom("x:", "y:");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("subscribe" as const, "unsubscribe" as const), uri }),
  fc.record({
    do: fc.constant("news" as const),
    slug: fc.constantFrom("a", "constructor"),
    topics: fc.subarray<Topic>(["tools", "uri:x:", "uri:y:"], { minLength: 1 }),
  }),
  fc.record({ do: fc.constant("again" as const), back: fc.nat(3) }),
  fc.record({
    do: fc.constantFrom("listen" as const, "leave" as const, "die" as const),
  }),
);

/** What a session is to do, as simply as can be said. */
class Model {
  readonly wanted = new Set<Topic>();
  hasListened = false;
  isListening = false;
  readonly waiting = new Set<Topic>();
  readonly delivered: Topic[] = [];
  readonly #had = new Map<string, number>();

  take({ slug, seq, topics }: News): void {
    const wanted = topics.filter((topic) =>
      topic === "tools" ? this.hasListened : slug === "a" && this.wanted.has(topic),
    );
    if (wanted.length === 0 || seq <= (this.#had.get(slug) ?? 0)) return;
    this.#had.set(slug, seq);
    for (const topic of wanted) {
      if (this.isListening) this.delivered.push(topic);
      else this.waiting.add(topic);
    }
  }

  listen(): void {
    this.hasListened = true;
    this.isListening = true;
    this.delivered.push(...this.waiting);
    this.waiting.clear();
  }
}

function saidAs({ params }: Call): string {
  return params === undefined ? "tools" : `uri:${String(params["uri"])}`;
}

async function act(scene: Scene, model: Model, sent: News[], one: Step): Promise<void> {
  const { subscriptions } = scene;
  switch (one.do) {
    case "subscribe":
      await subscriptions.subscribe(A, one);
      model.wanted.add(`uri:${one.uri}`);
      return;
    case "unsubscribe":
      subscriptions.unsubscribe(one);
      model.wanted.delete(`uri:${one.uri}`);
      model.waiting.delete(`uri:${one.uri}`);
      return;
    case "news":
    case "again": {
      // Whoever brings news brings it again, until it has learned that it was taken.
      const news = one.do === "news" ? { ...one, seq: sent.length + 1 } : sent.at(-1 - one.back);
      if (news === undefined) return;
      if (one.do === "news") sent.push(news);
      subscriptions.deliver(news);
      model.take(news);
      return;
    }
    case "listen":
      await scene.listen();
      model.listen();
      return;
    case "leave":
      scene.isListening = false;
      model.isListening = false;
      return;
    case "die":
      await scene.settle();
      scene.revive();
  }
}

test("in any order of events each change is announced once, and nothing else", async ({
  expect,
}) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      const scene = new Scene();
      const model = new Model();
      const sent: News[] = [];
      for (const one of steps) await act(scene, model, sent, one);
      expect(scene.delivered.map(saidAs)).toEqual(model.delivered);
    }),
    { numRuns: 300 },
  );
});
