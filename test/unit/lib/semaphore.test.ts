/** A semaphore, on a fake clock. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { Deadlines } from "../../../src/lib/deadlines.ts";
import { type Release, Semaphore } from "../../../src/lib/semaphore.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** A semaphore of two permits, both of which are taken, and callers that wait. */
function crowded(options: { readonly afterMs?: number } = {}) {
  const { afterMs } = options;
  const stuck = afterMs === undefined ? {} : { stuck: { afterMs, deadlines: new Deadlines(10) } };
  const semaphore = new Semaphore({ count: 2, ...stuck });
  const held = [semaphore.take(), semaphore.take()] as Release[];
  const order: string[] = [];
  const wait = async (name: string, isPreferred?: boolean): Promise<void> => {
    held.push(await semaphore.take(isPreferred));
    order.push(name);
  };
  return { semaphore, held, order, wait };
}

describe("a permit", () => {
  test("is granted at once while one is free", ({ expect }) => {
    const { semaphore, held } = crowded();
    expect(semaphore.take()).toBeInstanceOf(Promise);
    expect(held.map((release) => typeof release)).toEqual(["function", "function"]);
  });

  test("goes to the caller who has waited longest, once for each release", async ({ expect }) => {
    const { held, order, wait } = crowded();
    const waiting = ["a", "b"].map((name) => wait(name));
    await pass(1_000_000);
    expect(order).toEqual([]);
    held[0]?.();
    held[0]?.();
    await pass(0);
    expect(order).toEqual(["a"]);
    held[1]?.();
    await Promise.all(waiting);
    expect(order).toEqual(["a", "b"]);
  });

  test("goes to preferred callers first", async ({ expect }) => {
    const { held, order, wait } = crowded();
    const waiting = [wait("a", false), wait("b", false), wait("c", true), wait("d", true)];
    for (let n = 0; n < 4; n += 1) {
      held[n]?.();
      await pass(0);
    }
    await Promise.all(waiting);
    expect(order).toEqual(["c", "d", "a", "b"]);
  });
});

describe("holders that hang", () => {
  test("lose their permits to those who have waited too long", async ({ expect }) => {
    const { semaphore, order, wait } = crowded({ afterMs: 100 });
    const waiting = ["a", "b", "c", "d", "e"].map((name) => wait(name));
    await pass(90);
    expect(order).toEqual([]);
    await pass(20);
    expect(order).toEqual(["a", "b"]);
    // The new holders have as long.
    await pass(80);
    expect(order).toEqual(["a", "b"]);
    await pass(200);
    await Promise.all(waiting);
    expect(order).toEqual(["a", "b", "c", "d", "e"]);
    expect(vi.getTimerCount()).toBe(0);
    expect(semaphore.take()).not.toBeInstanceOf(Promise);
  });

  test("have no permit to give back afterwards", async ({ expect }) => {
    const { semaphore, held, wait } = crowded({ afterMs: 100 });
    const waiting = ["a", "b"].map((name) => wait(name));
    await pass(110);
    await Promise.all(waiting);
    held[0]?.();
    expect(semaphore.take()).toBeInstanceOf(Promise);
  });
});
