/** When a watch is opened again, by a fake clock: soon, and never too often. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type {
  OpenWatch,
  WatchEnd,
  WatchEvents,
} from "../../../../src/notifications/source/watch-port.ts";
import { ServerWatch } from "../../../../src/notifications/source/server-watch.ts";
import { FakeServer } from "./fake-watch.ts";

const MINUTE_MS = 60_000;
const HEARD = {
  changed: nothing,
  outdated: nothing,
  updated: nothing,
  answered: nothing,
  missed: nothing,
};

function nothing(): void {
  // Nobody listens.
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Made {
  readonly server: FakeServer;
  readonly watch: ServerWatch;
}

function watchOn(server: FakeServer, random: () => number = () => 0): ServerWatch {
  const open = (events: WatchEvents): Promise<OpenWatch> => server.open(new Set(), events);
  return new ServerWatch({ open, events: HEARD, now: Date.now, random });
}

async function started(server = new FakeServer()): Promise<Made> {
  const watch = watchOn(server);
  watch.start();
  await vi.advanceTimersByTimeAsync(0);
  return { server, watch };
}

/** After how many milliseconds the next attempt comes, in each of so many pauses. */
async function pauses(server: FakeServer, count: number, between: () => void): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < count; n++) {
    const [before, from] = [server.attempts, Date.now()];
    between();
    while (server.attempts === before) await vi.advanceTimersToNextTimerAsync();
    found.push(Date.now() - from);
    await vi.advanceTimersByTimeAsync(0);
  }
  return found;
}

const DOUBLING = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];

describe("a watch", () => {
  test.for<WatchEnd>(["closed", "lost"])(
    "that is %s at once each time is opened again less and less often",
    async (end, { expect }) => {
      const { server, watch } = await started();
      expect(await pauses(server, 8, () => server.end(end))).toEqual(DOUBLING);
      watch.stop();
    },
  );

  test("on a server that is down is opened again less and less often", async ({ expect }) => {
    const server = new FakeServer();
    server.isUp = false;
    const { watch } = await started(server);
    expect(watch.verdict("tools")).toBe("unreachable");
    expect(await pauses(server, 8, nothing)).toEqual(DOUBLING);
    server.isUp = true;
    await vi.advanceTimersByTimeAsync(30_001);
    expect([watch.verdict("tools"), watch.isReceiving]).toEqual(["announced", true]);
    watch.stop();
  });

  test("that was open for a while starts over: at once, if it was closed", async ({ expect }) => {
    const { server, watch } = await started();
    await pauses(server, 5, () => server.end("lost"));
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(await pauses(server, 1, () => server.end("closed"))).toEqual([0]);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(await pauses(server, 2, () => server.end("lost"))).toEqual([500, 1000]);
    watch.stop();
  });

  test("pauses with jitter", async ({ expect }) => {
    const server = new FakeServer();
    server.isUp = false;
    const watch = watchOn(server, () => 0.999);
    watch.start();
    await vi.advanceTimersByTimeAsync(0);
    const [pause = 0] = await pauses(server, 1, nothing);
    expect(pause).toBeGreaterThanOrEqual(250);
    expect(pause).toBeLessThan(260);
    watch.stop();
  });

  test("that a new subscriber waits for is opened at once, but not all the time", async ({
    expect,
  }) => {
    const server = new FakeServer();
    server.isUp = false;
    const { watch } = await started(server);
    await pauses(server, 6, nothing);
    const before = server.attempts;
    watch.openEarly();
    await vi.advanceTimersByTimeAsync(900);
    watch.openEarly();
    expect(server.attempts).toBe(before);
    await vi.advanceTimersByTimeAsync(100);
    watch.openEarly();
    expect(server.attempts).toBe(before + 1);
    expect(watch.verdict("tools")).toBe("pending");
    await vi.advanceTimersByTimeAsync(0);
    expect(watch.verdict("tools")).toBe("unreachable");
    expect(vi.getTimerCount()).toBe(1);
    watch.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("on a server that announces nothing is not opened again for some minutes", async ({
    expect,
  }) => {
    const { server, watch } = await started();
    server.end("refused");
    expect(watch.verdict("tools")).toBe("unannounced");
    watch.stop();
    for (let minute = 0; minute < 4; minute++) {
      watch.start();
      watch.openEarly();
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
    }
    expect([server.attempts, watch.verdict("tools")]).toEqual([1, "unannounced"]);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    watch.start();
    await vi.advanceTimersByTimeAsync(0);
    expect([server.attempts, watch.verdict("tools")]).toEqual([2, "announced"]);
    watch.stop();
  });

  test("returns by itself to a server that announced nothing, if it is to run", async ({
    expect,
  }) => {
    const { server, watch } = await started();
    server.end("refused");
    await vi.advanceTimersByTimeAsync(5 * MINUTE_MS + 1);
    expect([server.attempts, watch.verdict("tools")]).toEqual([2, "announced"]);
    watch.stop();
  });

  test("asks for what was refused again after some minutes, and not sooner", async ({ expect }) => {
    const { server, watch } = await started();
    for (let minute = 0; minute < 12; minute++) {
      watch.retry();
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
    }
    expect(server.retries.flatMap((isToo, minute) => (isToo ? minute : []))).toEqual([5, 10]);
    expect(server.retries).toHaveLength(12);
    watch.stop();
  });

  test("that was stopped while it was being opened is closed", async ({ expect }) => {
    const server = new FakeServer();
    const watch = watchOn(server);
    watch.start();
    watch.stop();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect([server.attempts, server.isWatched, vi.getTimerCount()]).toEqual([1, false, 0]);
  });

  test("that has ended is not opened again, whoever starts it", async ({ expect }) => {
    const { server, watch } = await started();
    await watch.end();
    watch.start();
    watch.openEarly();
    watch.retry();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect([server.attempts, server.isWatched, vi.getTimerCount()]).toEqual([1, false, 0]);
  });

  test("starts once, however often it is started", async ({ expect }) => {
    const { server, watch } = await started();
    watch.start();
    watch.openEarly();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(server.attempts).toBe(1);
    server.end("lost");
    watch.start();
    expect(server.attempts).toBe(1);
    watch.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
