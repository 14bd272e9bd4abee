/** The listener's side of the news: acknowledged first, tagged, and announced again after every gap. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import type { Interests, News } from "../../../../src/catalog/feeds.ts";
import type { PublisherScope } from "../../../../src/catalog/request-scope.ts";
import type { ModernContext } from "../../../../src/relay/modern-context.ts";
import { listen } from "../../../../src/notifications/modern/listen.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import type { Call } from "../../../../src/protocol/exchange.ts";
import type { JsonObject, Reply, RequestId } from "../../../../src/protocol/json-rpc.ts";
import { SessionKeys } from "../../../../src/endpoint/keyring.ts";
import { FakeFanOut } from "../fan-out/fake-fan-out.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import { fakeCredentials } from "../../upstream/fake-credentials.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const CLIENT = { revision: "2026-07-28", capabilities: {} } as const;
const TAG = "io.modelcontextprotocol/subscriptionId";
const GONE = new Error("The client closed the stream");
const BOTH = { toolsListChanged: true, promptsListChanged: true };
const METHODS = {
  acknowledged: "notifications/subscriptions/acknowledged",
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
} as const;

const changed = (seq: number, slug = "a"): News => ({ slug, seq, topics: ["tools"] });

function unused(): never {
  throw new Error("A listener has no use for this");
}

const BOTH_SERVERS: Endpoint = {
  ...{ servers: [fakeServer("a"), fakeServer("b")], isMerged: true, keepsNames: false },
};
const ONE_SERVER: Endpoint = {
  ...{ servers: [fakeServer("a")], isMerged: false, keepsNames: true },
};

class Listener {
  readonly fanOut: FakeFanOut;
  readonly notices: Call[] = [];
  readonly reply: Promise<Reply>;
  readonly #cancel = new AbortController();

  constructor(
    notifications: unknown,
    fanOut = new FakeFanOut(),
    id: RequestId = 1,
    endpoint: Endpoint = BOTH_SERVERS,
    principal = "me",
    publisher?: PublisherScope,
  ) {
    this.fanOut = fanOut;
    const context: ModernContext = {
      endpoint,
      ...{ route: "/mcp", principal, limits: defaultLimits(), waitUntil: () => undefined },
      ...{
        feeds: { of: unused },
        keys: new SessionKeys(unused),
        bridges: { at: unused },
      },
      ...{ fanOut, publisher },
    };
    const params: JsonObject = { notifications };
    this.reply = listen(
      context,
      CLIENT,
      { jsonrpc: "2.0", id, method: "subscriptions/listen", params },
      { notify: (notice) => Promise.resolve(void this.notices.push(notice)), ask: unused },
      this.#cancel.signal,
    );
    this.reply.catch(() => undefined); // a test that wants it looks itself
  }

  get methods(): readonly string[] {
    return this.notices.map(({ method }) => method);
  }

  hangUp(): void {
    this.#cancel.abort(GONE);
  }
}

function begin(): Listener {
  return new Listener(BOTH, new FakeFanOut(), 1, BOTH_SERVERS, "another");
}

/** Lets everything happen that takes no time. */
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);
const { acknowledged, tools, prompts } = METHODS;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a listener", () => {
  test.for<RequestId>(["sub", 0, 7, "7"])(
    "gets everything tagged with its id %j and its type",
    async (id, { expect }) => {
      const fanOut = new FakeFanOut();
      const listener = new Listener({ toolsListChanged: true }, fanOut, id);
      await settle();
      fanOut.newest.say(changed(1));
      await settle();
      const _meta = { [TAG]: id };
      expect(listener.notices).toEqual([
        { method: acknowledged, params: { notifications: { toolsListChanged: true }, _meta } },
        { method: tools, params: { _meta } },
      ]);
      listener.hangUp();
    },
  );

  test.for([
    { name: "which can be asked at once", awayMs: 0 },
    { name: "which cannot be asked for a minute", awayMs: 60_000 },
  ])(
    "follows an account that was connected before its vault was asked for news, $name",
    async ({ awayMs }, { expect }) => {
      const credentials = fakeCredentials();
      credentials.account = () => Promise.resolve(undefined);
      const server = fakeServer("a", { auth: { kind: "oauth" } as Server["auth"] });
      const own = { ...server, target: { ...server.target, credentials } };
      const endpoint: Endpoint = { servers: [own], isMerged: false, keepsNames: true };
      const fanOut = new FakeFanOut();
      fanOut.onOpen = () => {
        const backAt = Date.now() + awayMs;
        credentials.account = () =>
          Date.now() < backAt
            ? Promise.reject(new Error("It is being restarted"))
            : Promise.resolve("a1");
        fanOut.onOpen = undefined;
      };
      const listener = new Listener(
        { toolsListChanged: true },
        fanOut,
        1,
        endpoint,
        `with an account, ${awayMs}`,
      );
      await vi.advanceTimersByTimeAsync(1000 + 2 * awayMs);
      expect(fanOut.asked.map((asked) => Object.keys(asked))).toEqual([
        ["accounts/person p1"],
        ["a a1 person p1", "accounts/person p1"],
      ]);
      // What was missed in between may be anything.
      expect(listener.methods).toEqual([acknowledged, tools]);
      listener.hangUp();
    },
  );

  test("follows an account though the vault that knows of no other dies meanwhile", async ({
    expect,
  }) => {
    const [a, b] = [fakeCredentials(), fakeCredentials()];
    a.account = () => Promise.resolve(undefined);
    b.account = () => Promise.resolve(undefined);
    const guarded = (slug: string, credentials: typeof a): Server => {
      const server = fakeServer(slug, { auth: { kind: "oauth" } as Server["auth"] });
      return { ...server, target: { ...server.target, credentials } };
    };
    const endpoint: Endpoint = {
      ...{ servers: [guarded("a", a), guarded("b", b)], isMerged: true, keepsNames: false },
    };
    const fanOut = new FakeFanOut();
    fanOut.onOpen = () => {
      fanOut.onOpen = undefined;
      a.account = () => Promise.resolve("a1");
      // That there is none is asked each time: for the new interests it fails once.
      let asked = 0;
      b.account = () =>
        ++asked === 3
          ? Promise.reject(new Error("It is being restarted"))
          : Promise.resolve(undefined);
    };
    const listener = new Listener({ toolsListChanged: true }, fanOut, 1, endpoint, "two vaults");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fanOut.asked.map((asked) => Object.keys(asked))).toEqual([
      ["accounts/person p1"],
      ["a a1 person p1", "accounts/person p1"],
    ]);
    listener.hangUp();
  });

  test("gets nothing before the acknowledgement", async ({ expect }) => {
    const fanOut = new FakeFanOut();
    fanOut.onOpen = (socket) => socket.say(changed(1));
    const listener = new Listener(BOTH, fanOut);
    await settle();
    expect(listener.methods).toEqual([acknowledged, tools]);
    listener.hangUp();
  });

  test("is promised what any server honours, and notified of nothing else", async ({ expect }) => {
    const fanOut = new FakeFanOut();
    fanOut.honour = () => ({ b: ["tools"] });
    const listener = new Listener(BOTH, fanOut);
    await settle();
    expect(fanOut.asked).toEqual([{ a: ["tools", "prompts"], b: ["tools", "prompts"] }]);
    expect(listener.notices[0]?.params?.["notifications"]).toEqual({ toolsListChanged: true });
    fanOut.newest.say(
      { slug: "a", seq: 1, topics: ["prompts", "resources", "uri:x"] },
      { slug: "a", seq: 2, topics: ["prompts", "tools", "tools"] },
    );
    await settle();
    expect(listener.methods).toEqual([acknowledged, tools]);
    listener.hangUp();
  });

  test("is notified once of news that comes twice, for each server", async ({ expect }) => {
    const fanOut = new FakeFanOut();
    const listener = new Listener(BOTH, fanOut);
    await settle();
    fanOut.newest.say(changed(2), changed(2), changed(1), changed(1, "b"), changed(3));
    await settle();
    expect(listener.methods).toEqual([acknowledged, tools, tools, tools]);
    listener.hangUp();
  });

  test.for<{ name: string; notifications: unknown; honoured: Interests; sockets: number }>([
    { name: "for nothing", notifications: {}, honoured: {}, sockets: 0 },
    { name: "for what nobody has", notifications: BOTH, honoured: {}, sockets: 1 },
  ])(
    "that asks $name is left in peace",
    async ({ notifications, honoured, sockets }, { expect }) => {
      const fanOut = new FakeFanOut();
      fanOut.honour = () => honoured;
      const listener = new Listener(notifications, fanOut);
      await settle();
      expect(listener.notices[0]?.params?.["notifications"]).toEqual({});
      // Nothing could come.
      expect(fanOut.sockets.map(({ isClosed }) => isClosed)).toEqual(Array(sockets).fill(true));
      await vi.advanceTimersByTimeAsync(60_000);
      expect(fanOut.asked).toHaveLength(sockets);
      listener.hangUp();
      await expect(listener.reply).rejects.toBe(GONE);
      expect(listener.notices).toHaveLength(1);
    },
  );

  test.for([{ of: "an operator" }, { of: "its person" }])(
    "is told of its lists again once every isolate serves the servers that $of has changed",
    async ({ of }, { expect }) => {
      const settledAt = Date.now() + 10_000;
      const listens = (): Listener =>
        of === "an operator"
          ? new Listener(BOTH, new FakeFanOut(), 1, { ...BOTH_SERVERS, version: 2, settledAt })
          : new Listener(BOTH, new FakeFanOut(), 1, BOTH_SERVERS, "me", {
              ...{ person: "me", version: () => 2, settledAt },
            });
      const listener = listens();
      await vi.advanceTimersByTimeAsync(9999);
      expect(listener.methods).toEqual([acknowledged]);
      await vi.advanceTimersByTimeAsync(1);
      expect(listener.methods).toEqual([acknowledged, tools, prompts]);
      listener.hangUp();
      const later = listens();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(later.methods).toEqual([acknowledged]);
      later.hangUp();
      await settle();
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test("asks for no more resources than a client may subscribe to", async ({ expect }) => {
    const uris = Array.from({ length: 1500 }, (_, n) => `x:/${n}`);
    const fanOut = new FakeFanOut();
    const listener = new Listener({ resourceSubscriptions: uris }, fanOut, 1, ONE_SERVER);
    await settle();
    const first = uris.slice(0, defaultLimits().subscribedUrisPerClient);
    expect(fanOut.asked).toEqual([{ a: first.map((uri) => `uri:${uri}`) }]);
    expect(listener.notices[0]?.params?.["notifications"]).toEqual({
      resourceSubscriptions: first,
    });
    listener.hangUp();
  });

  test("asks for no URI that is too long, and a principal for no more than its part", async ({
    expect,
  }) => {
    const fanOut = new FakeFanOut();
    const long = `x:/${"a".repeat(2048)}`;
    const listeners = Array.from({ length: 4 }, (_, n) => {
      const uris = Array.from({ length: 1000 }, (_, m) => `x:/${n}/${m}`);
      const resourceSubscriptions = [long, ...uris];
      return new Listener({ resourceSubscriptions }, fanOut, n, ONE_SERVER, "one");
    });
    await settle();
    expect(fanOut.asked.map(({ a }) => a?.length)).toEqual([1000, 1000, 500]);
    expect(listeners[3]?.notices[0]?.params?.["notifications"]).toEqual({});
    for (const listener of listeners) listener.hangUp();
    await settle();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("has so many streams of a principal beside it, and no more", async ({ expect }) => {
    const most = defaultLimits().listenStreamsPerPrincipal;
    const listeners = Array.from({ length: most }, () => begin());
    await settle();
    const refused = begin();
    expect(await refused.reply).toMatchObject({ error: { code: -32000 } });
    expect([refused.notices, refused.fanOut.asked]).toEqual([[], []]);
    listeners.pop()?.hangUp();
    await settle();
    // One that stays keeps its place.
    await vi.advanceTimersByTimeAsync(60_000);
    listeners.push(begin());
    await settle();
    expect(listeners.at(-1)?.methods).toEqual([acknowledged]);
    expect(await begin().reply).toMatchObject({ error: { code: -32000 } });
    // The runtime ends what belongs to requests whose clients have hung up.
    const hungUpAt = Date.now();
    vi.clearAllTimers();
    vi.setSystemTime(hungUpAt + 20_000);
    const next = begin();
    await settle();
    expect(next.methods).toEqual([acknowledged]);
    for (const listener of [...listeners, next]) listener.hangUp();
    await settle();
  });
});

describe("a way to the news that breaks", () => {
  test("is opened again, and everything honoured is announced as changed", async ({ expect }) => {
    const fanOut = new FakeFanOut();
    fanOut.honour = () => ({ a: ["tools", "prompts"] });
    const listener = new Listener({ ...BOTH, resourcesListChanged: true }, fanOut);
    await vi.advanceTimersByTimeAsync(5000);
    fanOut.newest.breakOff();
    await settle();
    expect(fanOut.sockets).toHaveLength(2);
    expect(listener.methods).toEqual([acknowledged, tools, prompts]);
    fanOut.newest.say(changed(1));
    await settle();
    expect(listener.methods).toEqual([acknowledged, tools, prompts, tools]);
    listener.hangUp();
  });

  test("is tried again until it is there", async ({ expect }) => {
    const fanOut = new FakeFanOut();
    const listener = new Listener(BOTH, fanOut);
    await vi.advanceTimersByTimeAsync(5000);
    fanOut.isDown = true;
    fanOut.newest.breakOff();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(listener.methods).toEqual([acknowledged]);
    fanOut.isDown = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect(listener.methods).toEqual([acknowledged, tools, prompts]);
    listener.hangUp();
  });

  test.for([
    {
      name: "cannot be had any more",
      fail: (fanOut: FakeFanOut) => {
        fanOut.isDown = true;
      },
    },
    {
      name: "breaks each time",
      fail: (fanOut: FakeFanOut) => {
        fanOut.onOpen = (socket) => socket.breakOff();
      },
    },
    {
      name: "has less to tell",
      fail: (fanOut: FakeFanOut) => {
        fanOut.honour = () => ({ a: ["tools"] });
      },
    },
  ])("ends with a result when it $name", async ({ fail }, { expect }) => {
    const fanOut = new FakeFanOut();
    const listener = new Listener(BOTH, fanOut);
    await vi.advanceTimersByTimeAsync(5000);
    fail(fanOut);
    fanOut.newest.breakOff();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await listener.reply).toEqual({
      result: { resultType: "complete", _meta: { [TAG]: 1 } },
    });
    expect(fanOut.asked.length).toBeLessThanOrEqual(14);
    expect(fanOut.sockets.every(({ isClosed }) => isClosed)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("and was never open is an error", async ({ expect }) => {
    const fanOut = new FakeFanOut();
    fanOut.isDown = true;
    const listener = new Listener(BOTH, fanOut);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await listener.reply).toMatchObject({ error: { code: -32603 } });
    expect(listener.notices).toEqual([]);
  });
});

describe("a client that hangs up", () => {
  test.for<{ name: string; during: (fanOut: FakeFanOut) => void }>([
    { name: "while nothing is said", during: () => undefined },
    {
      name: "while it is connected again",
      during: (fanOut) => {
        fanOut.isDown = true;
        fanOut.newest.breakOff();
      },
    },
    {
      name: "while a way is opened",
      during: (fanOut) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        fanOut.gate = promise;
        fanOut.newest.breakOff();
        setTimeout(resolve, 1000);
      },
    },
  ])("$name leaves nothing open", async ({ during }, { expect }) => {
    const listener = new Listener(BOTH);
    await vi.advanceTimersByTimeAsync(5000);
    during(listener.fanOut);
    await settle();
    listener.hangUp();
    await vi.advanceTimersByTimeAsync(1000);
    await expect(listener.reply).rejects.toBe(GONE);
    expect(listener.methods).toEqual([acknowledged]);
    expect(listener.fanOut.sockets.every(({ isClosed }) => isClosed)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});
