/** The Worker's side of listening in a session: kept up while a client listens, and no longer. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { listenInSession } from "../../../../src/relay/modern-to-legacy/listen-for-resources.ts";
import type { Bridges, ResourceUpdates } from "../../../../src/relay/modern-to-legacy/bridge.ts";
import { type Answer, fakeTarget, json } from "../../upstream/fake-target.ts";
import { legacyServer, modernServer } from "../../catalog/read/listing-server.ts";

const URIS = ["x:/1", "x:/2"];

/** A connection to the session that a test sends updates on. */
class Way implements ResourceUpdates {
  isClosed = false;
  readonly #said: (string | undefined)[] = [];
  #wake: (() => void) | undefined;

  send(uri: string | undefined): void {
    this.#said.push(uri);
    this.#wake?.();
  }

  async next(): Promise<string | undefined> {
    while (this.#said.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#said.shift();
  }

  close(): void {
    this.isClosed = true;
    this.send(undefined);
  }
}

class World {
  readonly received: string[] = [];
  readonly ways: Way[] = [];
  /** The wanted resources, once for each attempt. */
  readonly wanted: (readonly string[])[] = [];
  readonly taken: unknown[] = [];
  isDown = false;
  gate: Promise<void> | undefined;
  onOpen: ((way: Way) => void) | undefined;
  isOver = false;
  readonly #leaving = new AbortController();

  /** @param answer of a server that is asked for its era; otherwise the operator has said that it is legacy. */
  constructor(answer?: Answer) {
    const bridges: Bridges = {
      at: (principal, { slug }, capabilities) => {
        this.taken.push([principal, slug, capabilities]);
        return {
          run: () => {
            throw new Error("Nothing is called here");
          },
          listenForResources: (uris) => this.#open(uris),
        };
      },
    };
    const waitUntil = (promise: Promise<unknown>): void => {
      void promise.then(() => (this.isOver = true));
    };
    const scope = { bridges, principal: "alice", waitUntil };
    const onUpdate = (uri: string): void => void this.received.push(uri);
    const target =
      answer === undefined
        ? fakeTarget(() => json({}, { status: 500 }), { era: "legacy" })
        : fakeTarget(answer);
    listenInSession(scope, target, { roots: {} }, URIS, onUpdate, this.#leaving.signal);
  }

  get newest(): Way {
    const way = this.ways.at(-1);
    if (way === undefined) throw new Error("No client listens");
    return way;
  }

  hangUp(): void {
    this.#leaving.abort(new Error("gone"));
  }

  async #open(uris: readonly string[]): Promise<ResourceUpdates> {
    this.wanted.push(uris);
    await this.gate;
    if (this.isDown) throw new Error("The holder is being restarted");
    const way = new Way();
    this.ways.push(way);
    this.onOpen?.(way);
    return way;
  }
}

const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const LEGACY = legacyServer({}).answer;

async function begin(answer?: Answer): Promise<World> {
  const world = new World(answer);
  await settle();
  return world;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a client that listens", () => {
  test("gets the updates of its session at a legacy server", async ({ expect }) => {
    const world = await begin(LEGACY);
    // The body of an answer comes by the clock of the machine, which no test moves.
    await expect.poll(() => world.ways).toHaveLength(1);
    expect(world.taken).toEqual([["alice", "fake", { roots: {} }]]);
    expect(world.wanted).toEqual([URIS]);
    world.newest.send("x:/1");
    world.newest.send("x:/2");
    await settle();
    expect(world.received).toEqual(URIS);
    world.hangUp();
  });

  test("has no connection at a modern server", async ({ expect }) => {
    const { answer } = modernServer({});
    const world = await begin(answer);
    await expect.poll(() => world.isOver).toBe(true);
    expect(world.taken).toEqual([]);
  });

  test("finds out the era of a server later when it is down now", async ({ expect }) => {
    let isDown = true;
    const world = await begin((seen) => (isDown ? json({}, { status: 503 }) : LEGACY(seen)));
    expect(world.wanted).toEqual([]);
    isDown = false;
    await expect.poll(() => world.wanted).toEqual([URIS]);
    world.hangUp();
  });
});

describe("a connection that breaks", () => {
  test("is opened again", async ({ expect }) => {
    const world = await begin();
    world.newest.send(undefined);
    await settle(100);
    expect(world.wanted).toEqual([URIS, URIS]);
    world.newest.send("x:/1");
    await settle();
    expect(world.received).toEqual(["x:/1"]);
    world.hangUp();
  });

  test("now and then is opened again as often", async ({ expect }) => {
    const world = await begin();
    for (let n = 1; n <= 20; n++) {
      await settle(60_000);
      world.newest.send(undefined);
      await settle(100);
      expect(world.ways).toHaveLength(n + 1);
    }
    world.hangUp();
  });

  test.for<{ name: string; fail: (world: World) => void }>([
    { name: "is not available", fail: (world) => (world.isDown = true) },
    { name: "breaks each time", fail: (world) => (world.onOpen = (way) => way.send(undefined)) },
  ])("is tried again every five seconds when it $name", async ({ fail }, { expect }) => {
    const world = await begin();
    fail(world);
    world.newest.send(undefined);
    await settle(60_000);
    const attempts = world.wanted.length;
    await settle(60_000);
    expect(world.wanted).toHaveLength(attempts + 12);
    world.isDown = false;
    world.onOpen = undefined;
    await settle(5000);
    world.newest.send("x:/1");
    await settle();
    expect(world.received).toEqual(["x:/1"]);
    world.hangUp();
    await settle();
    expect(world.isOver).toBe(true);
  });
});

describe("a client that hangs up", () => {
  test.for<{ name: string; during: (world: World) => void }>([
    { name: "while nothing is said", during: () => undefined },
    {
      name: "while the connection is tried again",
      during: (world) => {
        world.isDown = true;
        world.newest.send(undefined);
      },
    },
    {
      name: "while a connection is opened",
      during: (world) => {
        world.gate = new Promise((resolve) => setTimeout(resolve, 1000));
        world.newest.send(undefined);
      },
    },
  ])("$name leaves nothing open", async ({ during }, { expect }) => {
    const world = await begin();
    during(world);
    await settle(60);
    const attempts = world.wanted.length;
    world.hangUp();
    await settle(2000);
    expect([world.isOver, world.wanted.length]).toEqual([true, attempts]);
    expect(world.ways.every(({ isClosed }) => isClosed)).toBe(true);
  });

  test("gets no update that was sent just before", async ({ expect }) => {
    const world = await begin();
    world.newest.send("x:/1");
    world.hangUp();
    await settle();
    expect(world.received).toEqual([]);
  });
});
