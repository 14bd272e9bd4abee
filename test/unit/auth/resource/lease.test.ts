/** When a stream has to end, and what it takes to know. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { LEASE_ENDED_CODE, leaseEnds } from "../../../../src/auth/resource/lease.ts";

const HOUR_MS = 3_600_000;

class FakeSocket extends EventTarget {
  isAccepted = false;
  isClosed = false;

  accept(): void {
    this.isAccepted = true;
  }

  close(): void {
    this.isClosed = true;
  }

  /** The other side closes it. */
  closeFromThere(code: number): void {
    this.dispatchEvent(new CloseEvent("close", { code }));
  }
}

/** A lease that a test plays the other side of. */
class Scene {
  readonly sockets: FakeSocket[] = [];
  readonly steps: string[] = [];
  readonly over = new AbortController();
  isReachable = true;
  isGood: boolean | "unknown" = true;
  /** How it ended: `undefined` while it has not. */
  outcome: "ended" | "let go" | undefined;

  constructor(expiresInMs = HOUR_MS) {
    const lease = {
      expiresAt: Date.now() + expiresInMs,
      afterMs: 30_000,
      open: () => {
        this.steps.push("open");
        if (!this.isReachable) return Promise.reject(new Error("unreachable"));
        const socket = new FakeSocket();
        this.sockets.push(socket);
        return Promise.resolve(socket as unknown as WebSocket);
      },
      isGood: () => {
        this.steps.push("check");
        const { isGood } = this;
        return isGood === "unknown" ? Promise.reject(new Error("no")) : Promise.resolve(isGood);
      },
    };
    leaseEnds(lease, this.over.signal).then(
      () => (this.outcome = "ended"),
      () => (this.outcome = "let go"),
    );
  }

  get newest(): FakeSocket | undefined {
    return this.sockets.at(-1);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("expiry", () => {
  test("ends it a minute later, and not before", async ({ expect }) => {
    const scene = new Scene(10_000);
    await pass(69_999);
    expect(scene.outcome).toBe(undefined);
    await pass(1);
    expect(scene.outcome).toBe("ended");
    expect(scene.newest?.isClosed).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("long ago ends it at once", async ({ expect }) => {
    const scene = new Scene(-60_000);
    await pass(0);
    expect([scene.outcome, scene.steps]).toEqual(["ended", []]);
  });

  test("in years does not end it now", async ({ expect }) => {
    const scene = new Scene(365 * 24 * HOUR_MS);
    await pass(24 * HOUR_MS);
    expect(scene.outcome).toBe(undefined);
    scene.over.abort();
  });
});

describe("a lease", () => {
  test("costs nothing while the stream is young", async ({ expect }) => {
    const scene = new Scene();
    await pass(29_999);
    expect(scene.steps).toEqual([]);
    scene.over.abort();
    await pass(HOUR_MS);
    expect([scene.outcome, scene.steps, vi.getTimerCount()]).toEqual(["let go", [], 0]);
  });

  test("is opened once, then the token is asked about, then it is waited", async ({ expect }) => {
    const scene = new Scene(2 * HOUR_MS);
    await pass(HOUR_MS);
    expect([scene.outcome, scene.steps]).toEqual([undefined, ["open", "check"]]);
    expect([scene.newest?.isAccepted, scene.newest?.isClosed]).toEqual([true, false]);
    scene.newest?.closeFromThere(LEASE_ENDED_CODE);
    await pass(0);
    expect([scene.outcome, vi.getTimerCount()]).toEqual(["ended", 0]);
  });

  test("ends the stream when the token was revoked before it was there", async ({ expect }) => {
    const scene = new Scene();
    scene.isGood = false;
    await pass(30_000);
    expect([scene.outcome, scene.steps]).toEqual(["ended", ["open", "check"]]);
    expect(scene.newest?.isClosed).toBe(true);
  });

  test.for([1000, 1006, 1012])(
    "that breaks with %d is opened anew, and asked again",
    async (code, { expect }) => {
      const scene = new Scene();
      await pass(30_000);
      scene.newest?.closeFromThere(code);
      await pass(1000);
      expect([scene.outcome, scene.steps]).toEqual([undefined, ["open", "check", "open", "check"]]);
      expect(scene.sockets.map(({ isClosed }) => isClosed)).toEqual([true, false]);
      scene.isGood = false;
      scene.newest?.dispatchEvent(new Event("error"));
      await pass(2000);
      expect(scene.outcome).toBe("ended");
    },
  );

  test("that is not available is tried again for some minutes, less and less often", async ({
    expect,
  }) => {
    const scene = new Scene(10 * HOUR_MS);
    scene.isReachable = false;
    await pass(60_000);
    expect(scene.outcome).toBe(undefined);
    expect(scene.steps.length).toBeLessThanOrEqual(7);
    await pass(15 * 60_000);
    expect([scene.outcome, scene.steps.length]).toEqual(["ended", 10]);
  });

  test("whose token cannot be checked is not held open", async ({ expect }) => {
    const scene = new Scene();
    scene.isGood = "unknown";
    await pass(31_000);
    expect(scene.sockets[0]?.isClosed).toBe(true);
    scene.isGood = true;
    await pass(5000);
    expect([scene.outcome, scene.newest?.isClosed]).toEqual([undefined, false]);
    scene.over.abort();
  });

  test("that breaks once in a while is never given up", async ({ expect }) => {
    const scene = new Scene(100 * HOUR_MS);
    for (let hour = 0; hour < 20; hour++) {
      await pass(HOUR_MS);
      expect(scene.sockets).toHaveLength(hour + 1);
      scene.newest?.closeFromThere(1006);
    }
    await pass(HOUR_MS);
    expect(scene.outcome).toBe(undefined);
    scene.over.abort();
  });

  test("is let go with the stream", async ({ expect }) => {
    const scene = new Scene();
    await pass(40_000);
    scene.over.abort();
    await pass(0);
    expect([scene.outcome, scene.newest?.isClosed, vi.getTimerCount()]).toEqual([
      "let go",
      true,
      0,
    ]);
  });
});
