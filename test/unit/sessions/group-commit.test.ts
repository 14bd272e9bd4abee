/** Group commit: a lone event leaves at once, and a burst is committed together. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { GroupCommit } from "../../../src/sessions/group-commit.ts";

/** Only what fails waits for so long. */
const SOON = { timeout: 20_000 };

/** A commit whose writes become durable when the test says so. */
class Slow {
  commits = 0;
  #resolve: () => void = () => undefined;
  readonly group: GroupCommit;

  constructor(onCommit: (commit: number) => void = () => undefined) {
    const commit = (): void => onCommit(++this.commits);
    const synced = (): Promise<void> => new Promise((resolve) => (this.#resolve = resolve));
    this.group = new GroupCommit(commit, synced);
  }

  settle(): void {
    this.#resolve();
  }

  async reaches(commits: number): Promise<void> {
    await vi.waitUntil(() => this.commits === commits, SOON);
  }
}

test("what comes alone is committed at once, and the rest together", async ({ expect }) => {
  const slow = new Slow();
  slow.group.request();
  expect(slow.commits).toBe(1);
  for (let n = 0; n < 10; n++) slow.group.request();
  expect(slow.commits).toBe(1);
  slow.settle();
  await slow.reaches(2);
  slow.group.request();
  expect(slow.commits).toBe(2);
  slow.settle();
  await slow.reaches(3);
});

describe("on a fast disk,", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("a commit takes a millisecond, so that a burst is committed together", async ({
    expect,
  }) => {
    let commits = 0;
    const group = new GroupCommit(
      () => (commits += 1),
      () => Promise.resolve(),
    );
    for (let n = 0; n < 10; n++) {
      group.request();
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
    expect(commits).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(commits).toBe(2);
    // Nothing is committed that was not requested, and what comes later is alone again.
    await vi.advanceTimersByTimeAsync(1000);
    expect(commits).toBe(2);
    group.request();
    expect(commits).toBe(3);
  });
});

test("writes that are not durable end nothing: the platform restarts the object", async ({
  expect,
}) => {
  let commits = 0;
  const group = new GroupCommit(
    () => (commits += 1),
    () => Promise.reject(new Error("storage")),
  );
  group.request();
  group.request();
  await vi.waitUntil(() => commits > 1, SOON);
  expect(commits).toBe(2);
});

test("a commit that fails is requested again by what comes next", async ({ expect }) => {
  const slow = new Slow((commit) => {
    if (commit <= 2) throw new Error("full");
  });
  expect(() => slow.group.request()).toThrow("full"); // whoever sends learns of it
  expect(() => slow.group.request()).toThrow("full");
  slow.group.request();
  expect(slow.commits).toBe(3);
});
