/** Who holds the servers' standalone GET streams: the session, the Worker, or neither. */

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { HandOver } from "../../../src/sessions/hand-over.ts";
import { type SessionEvent, SessionLife } from "../../../src/sessions/state.ts";
import type { StreamReader } from "../../../src/sessions/stream-reader.ts";

const QUIET_MS = 5000;
const LINGER_MS = 30_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A session with one server, and a client whose stream comes and goes. */
class World {
  readonly life = new SessionLife({ deletedUntil: undefined, known: { client: {} } });
  /** What was done at the server and at the Workers, in order. */
  readonly done: string[] = [];
  isBusy = false;
  isReachable = true;
  canBeElsewhere = true;
  /** Holds back the server's answer on how it is watched elsewhere. */
  gate: Promise<void> | undefined;
  /** The server's streams are held here. */
  isHeldHere = false;
  reader: StreamReader | undefined;
  #readers = 0;
  readonly handOver: HandOver;

  constructor() {
    this.handOver = new HandOver({
      life: this.life,
      limits: { quietSeconds: QUIET_MS / 1000, lingerSeconds: LINGER_MS / 1000 },
      streams: { standalone: () => this.reader, lastUnsolicited: () => "token" },
      isBusy: () => this.isBusy,
      dispatch: () => ({
        listen: async () => {
          this.isHeldHere = true;
          this.done.push("listen");
        },
        unlisten: () => {
          this.isHeldHere = false;
          this.done.push("unlisten");
        },
        watched: async (_token, onUnreachable) => {
          if (!this.isReachable) onUnreachable?.();
          await this.gate;
          return this.canBeElsewhere ? {} : undefined;
        },
        handedOver: (slug) => {
          this.isHeldHere = false;
          this.done.push(`handed over ${slug}`);
        },
      }),
    });
  }

  newReader(): StreamReader {
    this.#readers += 1;
    const name = `reader ${this.#readers}`;
    const sendControl = (frame: string): void => void this.done.push(`${name}: ${frame.trim()}`);
    this.reader = { openedAt: this.#readers, sendControl } as StreamReader;
    return this.reader;
  }

  listen(): void {
    this.newReader();
    this.handOver.takeOver();
  }

  leave(): void {
    this.reader = undefined;
    this.handOver.left();
  }

  end(event: SessionEvent): void {
    this.life.take(event);
    this.handOver.end();
  }
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test("a session that has ended changes nothing of the one that follows on the same storage", ({
  expect,
}) => {
  const world = new World();
  world.listen();
  world.handOver.end();
  expect(world.life.state).toBe("offline");
  // The other session has a listener by now.
  world.life.take("listening");
  world.life.readersChanged(1);
  world.handOver.end();
  world.leave();
  expect([world.life.state, world.life.awaySince]).toEqual(["online", undefined]);
});

describe("the servers' streams", () => {
  test("are handed over when the session was quiet, and closed here once the Worker watches", async ({
    expect,
  }) => {
    const world = new World();
    world.listen();
    await pass(QUIET_MS - 1);
    expect(world.done).toEqual(["listen"]);
    await pass(1);
    expect(world.done).toEqual(["listen", "reader 1: !watch {}"]);
    world.handOver.watchedElsewhere("one");
    expect(world.done.at(-1)).toBe("handed over one");
  });

  test("are not handed over while something happens", async ({ expect }) => {
    const world = new World();
    world.listen();
    for (let n = 0; n < 3; n++) {
      await pass(QUIET_MS - 1);
      world.handOver.stirred();
    }
    world.isBusy = true;
    await pass(3 * QUIET_MS);
    expect([world.life.state, world.done]).toEqual(["online", ["listen"]]);
    world.isBusy = false;
    await pass(QUIET_MS);
    expect(world.life.state).toBe("handed over");
  });

  test("are taken back for a new stream; the old watch ends when the new one has begun", async ({
    expect,
  }) => {
    const world = new World();
    world.listen();
    await pass(QUIET_MS);
    world.done.length = 0;
    world.listen();
    expect(world.done).toEqual(["listen"]);
    await pass(0);
    expect(world.done).toEqual(["listen", "reader 1: !unwatch"]);
    world.handOver.watchedElsewhere("late");
    expect(world.done).toHaveLength(2);
  });

  test("stay with the session when they cannot be watched elsewhere", async ({ expect }) => {
    const world = new World();
    world.canBeElsewhere = false;
    world.listen();
    await pass(10 * QUIET_MS);
    expect([world.life.state, world.done]).toEqual(["online", ["listen"]]);
  });

  test("of a server that cannot be reached are tried ten times more", async ({ expect }) => {
    const world = new World();
    world.isReachable = false;
    world.listen();
    await pass(3_600_000);
    const tries = world.done.filter((one) => one === "reader 1: !watch {}");
    expect([world.life.state, tries.length]).toEqual(["handed over", 11]);
  });

  test("are held for a while after the client's last stream broke", async ({ expect }) => {
    const world = new World();
    world.listen();
    world.leave();
    await pass(LINGER_MS - 1);
    expect([world.life.state, world.isHeldHere]).toEqual(["lingering", true]);
    await pass(1);
    expect([world.life.state, world.isHeldHere]).toEqual(["offline", false]);
  });
});

describe("a life that finds two streams of the client", () => {
  test("takes the newer one's Worker for the one that watches", async ({ expect }) => {
    const world = new World();
    world.handOver.found(world.newReader());
    world.handOver.found(world.newReader());
    world.handOver.left(); // the client gave up the older one
    await pass(0);
    expect(world.done).toEqual(["listen", "reader 2: !unwatch"]);
  });

  test("takes it for that in whatever order they are found", async ({ expect }) => {
    const world = new World();
    const [older, newer] = [world.newReader(), world.newReader()];
    world.handOver.found(newer);
    world.handOver.found(older);
    world.handOver.left();
    await pass(0);
    expect(world.done).toEqual(["listen", "reader 2: !unwatch"]);
  });
});

describe("an end in the middle of the hand-over", () => {
  test("leaves nothing running, and sends the Worker nothing", async ({ expect }) => {
    for (const isReachable of [true, false]) {
      const world = new World();
      const { promise, resolve } = Promise.withResolvers<void>();
      world.gate = promise;
      world.isReachable = isReachable;
      world.listen();
      await pass(QUIET_MS);
      expect(world.life.state).toBe("handing over");
      world.end("deleted");
      resolve();
      await pass(0);
      expect([world.done, vi.getTimerCount()]).toEqual([["listen"], 0]);
    }
  });
});

describe("in whatever order things happen", () => {
  const ACTIONS: Readonly<Record<string, (world: World) => unknown>> = {
    listen: (world) => world.listen(),
    found: (world) => {
      if (world.life.state === "offline") world.handOver.found(world.newReader());
    },
    leave: (world) => {
      if (world.reader !== undefined) world.leave();
    },
    reopen: (world) => world.handOver.takeOver(),
    stir: (world) => world.handOver.stirred(),
    watched: (world) => world.handOver.watchedElsewhere("one"),
    busy: (world) => (world.isBusy = !world.isBusy),
    reach: (world) => (world.isReachable = !world.isReachable),
    elsewhere: (world) => (world.canBeElsewhere = !world.canBeElsewhere),
    wait: () => pass(QUIET_MS),
    "wait long": () => pass(LINGER_MS),
  };
  const anyActions = fc.array(fc.constantFrom(...Object.keys(ACTIONS)), { maxLength: 30 });

  test("the state agrees with the client's stream, and the session or a Worker watches while there is one", async ({
    expect,
  }) => {
    await fc.assert(
      fc.asyncProperty(anyActions, async (actions) => {
        const world = new World();
        for (const action of actions) {
          await ACTIONS[action]?.(world);
          await pass(0);
          const { state } = world.life;
          const hasStream = ["online", "handing over", "handed over"].includes(state);
          expect([state, hasStream]).toEqual([state, world.reader !== undefined]);
          if (state === "online" || state === "lingering") expect(world.isHeldHere).toBe(true);
          if (state === "offline") expect(world.isHeldHere).toBe(false);
        }
      }),
    );
  });

  test("nothing happens after the end", async ({ expect }) => {
    const anyEnd = fc.constantFrom<SessionEvent>("closed", "deleted");
    await fc.assert(
      fc.asyncProperty(anyActions, anyEnd, anyActions, async (before, end, later) => {
        const world = new World();
        for (const action of before) await ACTIONS[action]?.(world);
        world.end(end);
        await pass(0); // a watch that was ended before has its farewell
        world.done.length = 0;
        for (const action of later) await ACTIONS[action]?.(world);
        await pass(LINGER_MS);
        expect([world.life.state, world.done, vi.getTimerCount()]).toEqual([end, [], 0]);
      }),
    );
  });
});
