/** The time that an exchange may take without a sign of life, by a fake clock. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { startDeadline } from "../../../src/upstream/deadline.ts";
import { UpstreamError } from "../../../src/upstream/upstream-error.ts";
import { sleep } from "../../../src/lib/sleep.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const start = (): ReturnType<typeof startDeadline> =>
  startDeadline({ slug: "docs", timeoutMs: 1000 });

describe("startDeadline()", () => {
  test("aborts with the reason when the time is over, and not before", ({ expect }) => {
    const deadline = start();
    vi.advanceTimersByTime(999);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    const sentence = "gave no sign of life for 1 s";
    expect(deadline.signal.reason).toEqual(new UpstreamError("docs", "timeout", sentence));
  });

  test("gives the whole time again with every sign of life", ({ expect }) => {
    const deadline = start();
    for (let sign = 0; sign < 5; sign++) {
      vi.advanceTimersByTime(900);
      deadline.rewind();
    }
    vi.advanceTimersByTime(999);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.aborted).toBe(true);
  });

  test("stands still while a client decides, and starts anew afterwards", ({ expect }) => {
    const deadline = start();
    vi.advanceTimersByTime(900);
    const resume = deadline.pause();
    vi.advanceTimersByTime(100_000);
    expect(deadline.signal.aborted).toBe(false);
    resume();
    vi.advanceTimersByTime(999);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.aborted).toBe(true);
  });

  test("stands still until the last of several questions is answered", ({ expect }) => {
    const deadline = start();
    const [first, second] = [deadline.pause(), deadline.pause()];
    first();
    first(); // answered twice, it still counts once
    vi.advanceTimersByTime(5000);
    expect(deadline.signal.aborted).toBe(false);
    second();
    vi.advanceTimersByTime(1000);
    expect(deadline.signal.aborted).toBe(true);
  });

  test("does nothing more after it was cleared, and leaves no timer", ({ expect }) => {
    const deadline = start();
    deadline.rewind();
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(5000);
    expect(deadline.signal.aborted).toBe(false);
  });

  test("has one timer, however many the signs of life", ({ expect }) => {
    const deadline = start();
    for (let sign = 0; sign < 100; sign++) {
      deadline.rewind();
      deadline.pause()();
    }
    expect(vi.getTimerCount()).toBe(1);
  });
});

describe("sleep()", () => {
  test("ends after its time", async ({ expect }) => {
    let isOver = false;
    const slept = sleep(1000, new AbortController().signal).then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await slept;
  });

  test("ends with the reason when it is aborted, and leaves no timer", async ({ expect }) => {
    const controller = new AbortController();
    const slept = sleep(1000, controller.signal);
    controller.abort(new Error("woken"));
    await expect(slept).rejects.toThrow("woken");
    expect(vi.getTimerCount()).toBe(0);
    await expect(sleep(1000, controller.signal)).rejects.toThrow("woken");
    expect(vi.getTimerCount()).toBe(0);
  });
});
