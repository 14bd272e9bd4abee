/** The snapshot of added servers in an isolate: how old it may be, who waits for it, and what a silent registry costs. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { LiveServers } from "../../../../src/config/registry/live-servers.ts";

interface State {
  readonly version: number;
}

/** A registry whose answers a test gives. */
class Registry {
  version = 0;
  readonly asked: (number | undefined)[] = [];
  answers: "at once" | "never" | "fails" = "at once";
  readonly live = new LiveServers<State>({
    now: () => Date.now(),
    read: (known) => {
      this.asked.push(known);
      const { version } = this;
      if (this.answers === "never") return new Promise(() => undefined);
      if (this.answers === "fails") return Promise.reject(new Error("It restarts"));
      return Promise.resolve(known === version ? undefined : { version });
    },
  });
  readonly behind: Promise<unknown>[] = [];

  request(): Promise<unknown> | undefined {
    return this.live.fresh((promise) => this.behind.push(promise));
  }
}

beforeEach(() => void vi.useFakeTimers({ now: 1_800_000_000_000 }));
afterEach(() => void vi.useRealTimers());

function later(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

test("who renews what is known learns whether that has worked", async ({ expect }) => {
  const registry = new Registry();
  for (const answers of ["at once", "fails", "never"] as const) {
    registry.answers = answers;
    const renewed = registry.live.renewed();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await renewed).toBe(answers === "at once");
  }
});

describe("what may not exist", () => {
  test("is asked for once a second at most", async ({ expect }) => {
    const registry = new Registry();
    await registry.request();
    registry.version = 1;
    expect(await registry.live.sought()).toBe(true);
    expect(registry.live.known).toEqual({ version: 1 });
    for (let n = 0; n < 10; n++) expect(await registry.live.sought()).toBe(true);
    later(999);
    expect(await registry.live.sought()).toBe(true);
    expect(registry.asked).toEqual([undefined, 0]);
    later(1);
    expect(await registry.live.sought()).toBe(true);
    expect(registry.asked).toEqual([undefined, 0, 1]);
  });

  test("is asked for with one question by all that ask at once", async ({ expect }) => {
    const registry = new Registry();
    const all = [registry.live.sought(), registry.live.sought(), registry.live.sought()];
    await vi.advanceTimersByTimeAsync(50);
    expect(await Promise.all(all)).toEqual([true, true, true]);
    expect(registry.asked).toEqual([undefined]);
  });

  test.for(["never", "fails"] as const)(
    "is not known to be missing while the registry does not answer (%s)",
    async (answers, { expect }) => {
      const registry = new Registry();
      await registry.request();
      registry.answers = answers;
      later(5000);
      const both = [registry.live.sought(), registry.live.sought()];
      await vi.advanceTimersByTimeAsync(1000);
      expect(await Promise.all(both)).toEqual([false, false]);
      expect(registry.asked).toEqual([undefined, 0]);
    },
  );
});

describe("what an isolate knows", () => {
  test("is asked for once before the first request, and used for five seconds", async ({
    expect,
  }) => {
    const registry = new Registry();
    expect(registry.live.known).toBeUndefined();
    await registry.request();
    expect(registry.live.known).toEqual({ version: 0 });
    later(4999);
    expect(registry.request()).toBeUndefined();
    expect(registry.asked).toEqual([undefined]);
  });

  test("is renewed behind an answer after that, once at a time", async ({ expect }) => {
    const registry = new Registry();
    await registry.request();
    registry.version = 1;
    later(5000);
    expect(registry.request()).toBeUndefined();
    expect(registry.request()).toBeUndefined();
    expect(registry.asked).toEqual([undefined, 0]);
    await Promise.all(registry.behind);
    expect(registry.live.known).toEqual({ version: 1 });
  });

  test("is waited for after ten seconds, by all with one question", async ({ expect }) => {
    const registry = new Registry();
    await registry.request();
    const before = registry.live.known;
    later(10_000);
    const [one, other] = [registry.request(), registry.request()];
    expect(one).toBeDefined();
    expect(other).toBeDefined();
    await vi.advanceTimersByTimeAsync(50);
    await one;
    await other;
    expect(registry.asked).toEqual([undefined, 0]);
    // Nothing is new, so that nothing is made anew.
    expect(registry.live.known).toBe(before);
  });
});

describe("a registry", () => {
  test.for(["never", "fails"] as const)(
    "that does not answer (%s) is waited for a second, and asked again after five",
    async (answers, { expect }) => {
      const registry = new Registry();
      registry.version = 7;
      await registry.request();
      registry.answers = answers;
      later(60_000);
      let isServed = false;
      const served = registry.request()?.then(() => (isServed = true));
      await vi.advanceTimersByTimeAsync(1000);
      await served;
      expect(isServed).toBe(true);
      expect(registry.live.known).toEqual({ version: 7 });
      // Nobody waits for it a second time.
      expect(registry.request()).toBeUndefined();
      registry.answers = "at once";
      registry.version = 8;
      later(5000);
      await registry.request();
      expect(registry.live.known).toEqual({ version: 8 });
    },
  );

  test("whose first answer does not come leaves the isolate without one", async ({ expect }) => {
    const registry = new Registry();
    registry.answers = "never";
    const served = registry.request();
    await vi.advanceTimersByTimeAsync(1000);
    await served;
    expect(registry.live.known).toBeUndefined();
  });
});
