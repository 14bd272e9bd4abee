/** The small parts of the fan-out: where a subscriber belongs, and how one timer does for many. */

import { describe, test, vi } from "vitest";

import { BRANCHES, branchOf } from "../../../../src/notifications/fan-out/branch.ts";
import { Deadlines } from "../../../../src/lib/deadlines.ts";
import { useWorldTime } from "./fan-out-world.ts";

useWorldTime();

const never = new Promise<never>(() => undefined);

describe("branchOf()", () => {
  test("is the same for ever", ({ expect }) => {
    const ids = ["", "a", "00000000-0000-4000-8000-000000000000", "f".repeat(64)];
    expect(ids.map(branchOf)).toEqual([5, 12, 21, 5]);
  });

  test.for([
    { name: "sessions", draw: () => Array.from({ length: 64 }, hexDigit).join("") },
    { name: "listeners", draw: () => crypto.randomUUID() },
  ])("spreads $name evenly", ({ draw }, { expect }) => {
    const counts = Array.from({ length: BRANCHES }, () => 0);
    for (let n = 0; n < 3200; n += 1) {
      const branch = branchOf(draw());
      counts[branch] = (counts[branch] ?? NaN) + 1;
    }
    // 100 each on average; the chance that one of 32 is out of this is below one in 10 million.
    expect(Math.min(...counts)).toBeGreaterThan(40);
    expect(Math.max(...counts)).toBeLessThan(170);
  });
});

function hexDigit(): string {
  return "0123456789abcdef".charAt(Math.random() * 16);
}

describe("deadlines", () => {
  test("give what comes in time, and nothing else", async ({ expect }) => {
    const deadlines = new Deadlines(10);
    const failed = Promise.reject(new Error("It failed"));
    const late = deadlines.within(never, 50);
    expect(await deadlines.within(Promise.resolve(1), 50)).toBe(1);
    await expect(deadlines.within(failed, 50)).rejects.toThrow("It failed");
    await vi.advanceTimersByTimeAsync(60);
    expect(await late).toBe(undefined);
  });

  test("are many with one timer, and have no timer without a wait", async ({ expect }) => {
    const deadlines = new Deadlines(10);
    const waits = Array.from({ length: 20_000 }, (_, n) => deadlines.within(never, n % 100));
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(110);
    expect(await Promise.all(waits)).toHaveLength(20_000);
    expect(vi.getTimerCount()).toBe(0);
    await deadlines.within(Promise.resolve(), 1000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
