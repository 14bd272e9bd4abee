/** The updates that a listener gets from its own session with a server, beside the news of the feed. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { ResourceUpdates } from "../../../../src/relay/modern-to-legacy/bridge.ts";
import type { ModernContext } from "../../../../src/relay/modern-context.ts";
import { listen } from "../../../../src/notifications/modern/listen.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import type { Reply } from "../../../../src/protocol/json-rpc.ts";
import { SessionKeys } from "../../../../src/endpoint/keyring.ts";
import { FakeFanOut } from "../fan-out/fake-fan-out.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";
import { fakeCredentials, type FakeCredentials } from "../../upstream/fake-credentials.ts";
import { fakeTarget, html } from "../../upstream/fake-target.ts";
import { vaultKey } from "../../../../src/upstream/server-key.ts";

const URI = "x:/1";
const CLIENT = { revision: "2026-07-28", capabilities: { roots: {} } } as const;

function unused(): never {
  throw new Error("A listener has no use for this");
}

class Listener {
  readonly fanOut = new FakeFanOut();
  /** The URIs of its updates, or methods of other notifications. */
  readonly received: unknown[] = [];
  readonly attended: { readonly slug: string; readonly able: unknown; readonly uris: unknown }[] =
    [];
  /** The accounts of those sessions. */
  readonly accounts: (string | undefined)[] = [];
  readonly reply: Promise<Reply>;
  /** Says in the session that this has changed. */
  say: (uri: string) => void = unused;
  /** The number of sessions that it listens in. */
  listening = 0;
  /** Room for its notifications. */
  room: Promise<void> = Promise.resolve();
  readonly #cancel = new AbortController();

  /** @param credentials at a server with accounts, whose vault tells those who listen for lists. */
  constructor(uris: readonly string[] = [URI], credentials?: FakeCredentials) {
    const options = { slug: "a", era: "legacy", ...(credentials && { credentials }) } as const;
    const server = fakeServer("a", {
      target: fakeTarget(() => html(500), options),
      ...(credentials && { auth: { kind: "key", key: { header: "X-Key", prefix: "" } } }),
    });
    const context: ModernContext = {
      endpoint: { servers: [server], isMerged: false, keepsNames: true },
      ...{ route: "/mcp/a", principal: "me", limits: defaultLimits() },
      waitUntil: () => undefined,
      ...{ feeds: { of: unused }, keys: new SessionKeys(unused) },
      bridges: {
        at: (_principal, { slug, credentials }, able) => ({
          run: unused,
          listenForResources: async (uris) => {
            this.accounts.push(await credentials?.account());
            return this.#listenInSession(slug, able, uris);
          },
        }),
      },
      fanOut: {
        listen: (asked) => this.fanOut.listen(asked),
        ...{ subscribe: unused, unsubscribe: unused },
      },
    };
    const lists = credentials === undefined ? {} : { toolsListChanged: true };
    const params = { notifications: { resourceSubscriptions: uris, ...lists } };
    this.reply = listen(
      context,
      CLIENT,
      { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params },
      {
        notify: ({ method, params }) => {
          this.received.push(params?.["uri"] ?? method);
          return this.room;
        },
        ask: unused,
      },
      this.#cancel.signal,
    );
    this.reply.catch(() => undefined); // a test that wants it looks itself
  }

  #listenInSession(slug: string, able: unknown, uris: unknown): ResourceUpdates {
    this.attended.push({ slug, able, uris });
    this.listening += 1;
    let isOpen = true;
    const said: string[] = [];
    let wake: (() => void) | undefined;
    this.say = (uri) => {
      said.push(uri);
      wake?.();
    };
    return {
      next: async () => {
        if (isOpen && said.length === 0) {
          await new Promise<void>((resolve) => (wake = resolve));
        }
        return said.shift();
      },
      close: () => {
        if (isOpen) this.listening -= 1;
        isOpen = false;
        wake?.();
      },
    };
  }

  /** News of the feed. */
  news(seq: number, uri = URI): void {
    this.fanOut.newest.say({ slug: "a", seq, topics: [`uri:${uri}`] });
  }

  hangUp(): void {
    this.#cancel.abort(new Error("gone"));
  }
}

const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

async function begin(uris?: readonly string[]): Promise<Listener> {
  const listener = new Listener(uris);
  await settle();
  listener.received.shift(); // the acknowledgement
  return listener;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a listener", () => {
  test("listens in its session for what is honoured there", async ({ expect }) => {
    const listener = await begin();
    const { roots } = CLIENT.capabilities;
    expect(listener.attended).toEqual([{ slug: "a", able: { roots }, uris: [URI] }]);
    listener.say(URI);
    listener.say("x:/unasked");
    await settle();
    expect(listener.received).toEqual([URI]);
    listener.hangUp();
  });

  test("listens in no session when it subscribes to no resource", async ({ expect }) => {
    const listener = await begin([]);
    expect(listener.attended).toEqual([]);
    listener.hangUp();
  });

  test("is notified once of what both announce", async ({ expect }) => {
    const listener = await begin();
    listener.say(URI);
    listener.news(1);
    await settle();
    expect(listener.received).toEqual([URI]);
    await settle(2000);
    listener.news(2);
    await settle();
    listener.say(URI);
    await settle();
    expect(listener.received).toEqual([URI, URI]);
    listener.hangUp();
  });

  test("is notified of what it may have missed, whatever came before", async ({ expect }) => {
    const listener = await begin();
    await settle(5000);
    listener.say(URI);
    await settle();
    listener.fanOut.newest.breakOff();
    await settle();
    expect(listener.received).toEqual([URI, URI]);
    listener.hangUp();
  });

  test("listens in its session no longer than its stream is open", async ({ expect }) => {
    const listener = await begin();
    expect(listener.listening).toBe(1);
    listener.hangUp();
    await settle();
    expect(listener.listening).toBe(0);
  });

  test("is sent nothing after its end", async ({ expect }) => {
    const listener = await begin(["x:/1", "x:/2"]);
    await settle(5000);
    const { promise, resolve } = Promise.withResolvers<void>();
    listener.room = promise;
    listener.say("x:/1");
    listener.say("x:/2");
    listener.fanOut.isDown = true;
    listener.fanOut.newest.breakOff();
    await settle(60_000);
    expect(await listener.reply).toHaveProperty("result");
    resolve();
    await settle();
    expect([listener.received, listener.listening]).toEqual([["x:/1"], 0]);
  });
});

describe("a listener whose account at a server is replaced", () => {
  test.for<{ name: string; learn: (listener: Listener, owner: string) => void }>([
    {
      name: "and whom the vault tells",
      learn: ({ fanOut }, owner) =>
        fanOut.newest.say({ slug: vaultKey(owner), seq: 1, topics: ["tools"] }),
    },
    { name: "while it could not be told", learn: ({ fanOut }) => fanOut.newest.breakOff() },
  ])("$name goes on in the session of the new one", async ({ learn }, { expect }) => {
    const credentials = fakeCredentials("a1");
    const listener = new Listener([URI], credentials);
    await settle();
    expect(listener.accounts).toEqual(["a1"]);
    credentials.accountId = "a2";
    learn(listener, credentials.owner);
    await settle(5000);
    expect(listener.accounts).toEqual(["a1", "a2"]);
    expect(listener.listening).toBe(1);
    listener.received.splice(0);
    listener.say(URI);
    await settle();
    expect(listener.received).toEqual([URI]);
    listener.hangUp();
    await settle();
    expect(listener.listening).toBe(0);
  });
});
