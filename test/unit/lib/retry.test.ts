/** Repeated attempts: how many, after which errors, and with which pauses. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { retry } from "../../../src/lib/retry.ts";

const BACKOFF = { firstMs: 100 };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** @returns work that fails so many times, and the times of its attempts since the start. */
function failing(times: number): { work: (attempt: number) => Promise<string>; at: number[] } {
  const startedAt = Date.now();
  const at: number[] = [];
  const work = (attempt: number): Promise<string> => {
    at.push(Date.now() - startedAt);
    return attempt < times
      ? Promise.reject(new Error(`failure ${attempt}`))
      : Promise.resolve("ok");
  };
  return { work, at };
}

const isTransient = (error: unknown): boolean => !String(error).includes("failure 1");

describe("work that is repeated", () => {
  test("is done once when it succeeds at once", async ({ expect }) => {
    const { work, at } = failing(0);
    expect(await retry(work, { attempts: 4, backoff: BACKOFF })).toBe("ok");
    expect(at).toEqual([0]);
  });

  test("pauses for twice as long after each failure", async ({ expect }) => {
    const { work, at } = failing(3);
    const result = retry(work, { attempts: 4, backoff: BACKOFF });
    await vi.runAllTimersAsync();
    expect(await result).toBe("ok");
    expect(at).toEqual([0, 100, 300, 700]);
  });

  test("throws the last error when its attempts are over, without another pause", async ({
    expect,
  }) => {
    const { work, at } = failing(9);
    const failed = expect(retry(work, { attempts: 3, backoff: BACKOFF })).rejects.toThrow(
      "failure 2",
    );
    await vi.runAllTimersAsync();
    await failed;
    expect(at).toEqual([0, 100, 300]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is not repeated after an error that is not transient", async ({ expect }) => {
    const { work, at } = failing(9);
    const failed = expect(
      retry(work, { attempts: 5, backoff: BACKOFF, isTransient }),
    ).rejects.toThrow("failure 1");
    await vi.runAllTimersAsync();
    await failed;
    expect(at).toEqual([0, 100]);
  });

  test("ends in a pause when its signal is aborted", async ({ expect }) => {
    const { work, at } = failing(9);
    const over = new AbortController();
    const failed = expect(
      retry(work, { attempts: 5, backoff: BACKOFF, signal: over.signal }),
    ).rejects.toThrow("the client has gone");
    await vi.advanceTimersByTimeAsync(50);
    over.abort(new Error("the client has gone"));
    await failed;
    expect(at).toEqual([0]);
  });
});
