/** When news is sent to the branches, by a fake clock. How it is delivered is the outbox's (`lib/outbox.test.ts`). */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { News, Topic } from "../../../../src/catalog/feeds.ts";
import { Publisher } from "../../../../src/notifications/source/publisher.ts";

interface Published {
  readonly branch: number;
  readonly seq: number;
  readonly topics: readonly Topic[];
  readonly at: number;
  readonly done: (isTaken: boolean) => void;
}

/** Which branch wants what; its calls are settled by the test, or at once. */
class Fixture {
  readonly published: Published[] = [];
  readonly outdated: (readonly Topic[])[] = [];
  /** How often every branch had received everything. */
  sent = 0;
  readonly wants: Map<Topic, Set<number>>;
  /** Branches whose calls the test settles. */
  readonly slow = new Set<number>();
  readonly publisher: Publisher;
  readonly #startedAt = Date.now();
  #seq = 0;

  constructor(wants: Readonly<Partial<Record<Topic, readonly number[]>>>) {
    this.wants = new Map(
      Object.entries(wants).map(([topic, branches]) => [topic as Topic, new Set(branches)]),
    );
    this.publisher = new Publisher({
      slug: "one",
      collectMs: 100,
      wanted: {
        has: (topic) => this.wants.has(topic),
        branchesOf: (topic) => this.wants.get(topic) ?? [],
      },
      nextSeq: () => ++this.#seq,
      publish: (branch, news) => this.#publish(branch, news),
      outdated: (lists) => void this.outdated.push(lists),
      sent: () => void (this.sent += 1),
      now: Date.now,
    });
  }

  /** What was published since the last call. */
  take(): readonly (readonly [branch: number, seq: number, ...topics: Topic[]])[] {
    return this.published.splice(0).map(({ branch, seq, topics }) => [branch, seq, ...topics]);
  }

  leave(branch: number, topic: Topic): void {
    this.wants.get(topic)?.delete(branch);
    this.publisher.forget(branch, topic);
  }

  #publish(branch: number, { seq, topics }: News): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const done = (isTaken: boolean): void => {
      if (isTaken) resolve();
      else reject(new Error("not to be had"));
    };
    this.published.push({ branch, seq, topics, at: Date.now() - this.#startedAt, done });
    if (!this.slow.has(branch)) resolve();
    return promise;
  }
}

const A = "uri:a";
const B = "uri:b";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a publisher", () => {
  test("publishes at once what comes after a silence, and the rest together", async ({
    expect,
  }) => {
    const { publisher, published } = new Fixture({ [A]: [0], [B]: [0] });
    publisher.announce([A]);
    publisher.announce([A, B]);
    publisher.announce([B, A]);
    publisher.announce(["uri:unwanted"]);
    await vi.advanceTimersByTimeAsync(1000);
    publisher.announce([B]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(published.map(({ at, topics }) => [at, ...topics])).toEqual([
      [0, A],
      [100, A, B],
      [1000, B],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("publishes a list that changes all the time once a second, and resources as ever", async ({
    expect,
  }) => {
    const { publisher, published, outdated } = new Fixture({ tools: [0], prompts: [0], [A]: [0] });
    for (let ms = 0; ms < 2000; ms += 20) {
      publisher.announce(["tools"], ["tools"]);
      if (ms === 200) publisher.announce(["prompts"]);
      if (ms === 500) publisher.announce([A]);
      await vi.advanceTimersByTimeAsync(20);
    }
    await vi.advanceTimersByTimeAsync(5000);
    expect(published.map(({ at, topics }) => [at, ...topics])).toEqual([
      [0, "tools"],
      [300, "prompts"],
      [600, A],
      [1000, "tools"],
      [2000, "tools"],
    ]);
    // Whoever asks meanwhile is given what there is now.
    expect(outdated.length).toBeGreaterThan(15);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("sends each branch what it wants, and reports outdated lists before", async ({ expect }) => {
    const fixture = new Fixture({ tools: [1, 2], [A]: [2, 3] });
    let publishedBefore = -1;
    vi.spyOn(fixture.outdated, "push").mockImplementation(
      () => (publishedBefore = fixture.published.length),
    );
    fixture.publisher.announce([]);
    fixture.publisher.announce(["tools", A, "prompts"], ["tools"]);
    expect(publishedBefore).toBe(0);
    // At once, and all together.
    expect(fixture.take()).toEqual([
      [1, 1, "tools"],
      [2, 2, "tools", A],
      [3, 3, A],
    ]);
  });

  test("publishes a list to a branch that begins to want it before it is reported", async ({
    expect,
  }) => {
    const { publisher, published, outdated, wants } = new Fixture({ prompts: [0] });
    publisher.announce(["prompts"], ["prompts"]);
    publisher.announce(["tools"], ["tools"]);
    wants.set("tools", new Set([1]));
    await vi.advanceTimersByTimeAsync(100);
    expect(outdated).toEqual([["prompts"], ["tools"]]);
    expect(published.map(({ branch, topics }) => [branch, ...topics])).toEqual([
      [0, "prompts"],
      [1, "tools"],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("reports an outdated list that no branch wants, once in a while", async ({ expect }) => {
    const { publisher, outdated, published } = new Fixture({});
    for (let n = 0; n < 10; n++) publisher.announce(["tools"], ["tools", "prompts"]);
    await vi.advanceTimersByTimeAsync(100);
    expect(outdated).toEqual([["tools"], ["prompts"], ["tools"], ["prompts"]]);
    expect(published).toEqual([]);
  });

  test("says when every branch has received everything, or wants it no more", async ({
    expect,
  }) => {
    const fixture = new Fixture({ tools: [0, 1], prompts: [0] });
    const { publisher } = fixture;
    publisher.announce(["tools"]);
    publisher.announce(["tools", "prompts"]);
    await vi.advanceTimersByTimeAsync(999);
    expect(fixture.sent).toBe(0);
    fixture.slow.add(1);
    await vi.advanceTimersByTimeAsync(101);
    expect(fixture.sent).toBe(0);
    fixture.published.at(-1)?.done(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(fixture.sent).toBe(1);
    publisher.announce(["tools"]);
    await vi.advanceTimersByTimeAsync(1000);
    fixture.published.at(-1)?.done(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(fixture.sent).toBe(1);
    fixture.leave(1, "tools");
    expect(fixture.sent).toBe(2);
  });

  test("waits longer each time for a branch that fails, and has it wait for nothing after", async ({
    expect,
  }) => {
    const fixture = new Fixture({ [A]: [0] });
    fixture.slow.add(0);
    fixture.publisher.announce([A]);
    for (let n = 0; n < 12; n++) {
      fixture.published.at(-1)?.done(false);
      await vi.advanceTimersByTimeAsync(0);
      await vi.advanceTimersToNextTimerAsync();
    }
    const times = fixture.published.map(({ at }) => at);
    const pauses = times.slice(1).map((at, n) => at - (times[n] ?? 0));
    expect(pauses).toEqual([
      ...[100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000],
    ]);
    fixture.published.at(-1)?.done(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gives up on a call that has no end", async ({ expect }) => {
    const fixture = new Fixture({ [A]: [0] });
    fixture.slow.add(0);
    fixture.publisher.announce([A]);
    await vi.advanceTimersByTimeAsync(30_100);
    expect(fixture.take()).toEqual([
      [0, 1, A],
      [0, 1, A],
    ]);
    fixture.leave(0, A);
    await vi.advanceTimersByTimeAsync(30_000);
    expect([fixture.take(), vi.getTimerCount()]).toEqual([[], 0]);
  });

  test("sends nothing that is no longer wanted, and has no timer for it", async ({ expect }) => {
    const fixture = new Fixture({ [A]: [0, 1], [B]: [0] });
    fixture.slow.add(0);
    fixture.publisher.announce([A, B]);
    fixture.published[0]?.done(false);
    await vi.advanceTimersByTimeAsync(0);
    fixture.published.splice(0);
    fixture.leave(0, A);
    await vi.advanceTimersByTimeAsync(100);
    expect(fixture.published).toMatchObject([{ branch: 0, seq: 1, topics: [B] }]);
    fixture.published[0]?.done(false);
    await vi.advanceTimersByTimeAsync(0);
    fixture.leave(0, B);
    expect(vi.getTimerCount()).toBe(0);
    fixture.publisher.announce([A]);
    fixture.leave(1, A);
    await vi.advanceTimersByTimeAsync(1000);
    expect(fixture.published.slice(1)).toMatchObject([{ branch: 1, topics: [A] }]);
  });

  test("that has ended sends nothing any more, and has no timer", async ({ expect }) => {
    const fixture = new Fixture({ tools: [0], [A]: [0] });
    fixture.slow.add(0);
    fixture.publisher.announce([A]);
    fixture.publisher.announce([A], ["tools"]);
    fixture.publisher.end();
    fixture.published[0]?.done(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    fixture.publisher.announce(["tools"], ["tools"]);
    fixture.publisher.announceTo(0, [A]);
    fixture.publisher.forget(0, A);
    expect([fixture.published.length, fixture.outdated, vi.getTimerCount()]).toEqual([1, [], 0]);
  });
});
