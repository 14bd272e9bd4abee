/** When a process takes the lock of another one, on a clock of the test. */

import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, vi } from "vitest";

import { withLock } from "../../cli/tokens/file-lock.ts";

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("folder", async ({}, { onCleanup }): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "edgeway-lock-"));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  return folder;
});

/** A process id that is larger than any. */
const NOBODY = 2 ** 30;

/** Takes the lock of another process. @returns how long that took, in milliseconds. */
async function takenAfter(folder: string, holder: object, heartbeatAt: number): Promise<number> {
  const file = join(folder, "login.7");
  await writeFile(file, JSON.stringify({ host: hostname(), ...holder }));
  await utimes(file, heartbeatAt / 1000, heartbeatAt / 1000);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  try {
    const begunAt = performance.now();
    const took: number[] = [];
    const taking = withLock(join(folder, "login"), new AbortController().signal, async () => {
      took.push(performance.now() - begunAt);
    });
    while (took.length === 0) {
      // What the file system takes is no time on this clock.
      if (vi.getTimerCount() > 0) vi.advanceTimersByTime(10);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await taking;
    return took[0] ?? 0;
  } finally {
    vi.useRealTimers();
  }
}

const HOUR_MS = 3_600_000;

test("a holder that has died is followed at once", async ({ expect, folder }) => {
  expect(await takenAfter(folder, { pid: NOBODY }, Date.now())).toBeLessThan(1000);
});

test.for([
  ["of this machine that runs, or whose number another program has", { pid: process.pid }],
  ["of another machine", { pid: NOBODY, host: "elsewhere" }],
] as const)(
  "a holder %s is followed when it is silent for two heartbeats after its time is over",
  async ([, holder], { expect, folder }) => {
    const took = await takenAfter(folder, holder, Date.now() - HOUR_MS);
    expect(took).toBeGreaterThan(10_000);
    expect(took).toBeLessThan(20_000);
  },
);
