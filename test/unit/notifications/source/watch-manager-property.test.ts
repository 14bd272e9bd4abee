/**
 * Whatever happens, in whatever order: a branch that was promised a topic gets news of it after its
 * last change, with numbers that grow, and of nothing else.
 */

import * as fc from "fast-check";
import { afterEach, describe, test, vi } from "vitest";

import type { News, Topic } from "../../../../src/catalog/feeds.ts";
import { WatchManager } from "../../../../src/notifications/source/watch-manager.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";
import { FakeServer } from "./fake-watch.ts";
import { type SqlFixture, withSql } from "../../lib/sql-fixture.ts";

const TOPICS = ["tools", "prompts", "uri:file:///a", "uri:file:///b"] as const;
const BRANCHES = [0, 1, 2] as const;
const TEN_MINUTES_MS = 600_000;

type Step =
  | { readonly do: "want" | "leave"; readonly branch: number; readonly topics: readonly Topic[] }
  | { readonly do: "change"; readonly topic: Topic }
  /** A branch is not to be had for so many times; it may have got the news all the same. */
  | {
      readonly do: "fail";
      readonly branch: number;
      readonly times: number;
      readonly isHeard: boolean;
    }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "down" | "up" | "end" | "miss" | "forget" | "wake" };

const branch = fc.constantFrom(...BRANCHES);
const topic = fc.constantFrom(...TOPICS);
const topics = fc.subarray([...TOPICS], { minLength: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("want" as const), branch, topics }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), branch, topics }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("change" as const), topic }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("fail" as const),
      branch,
      times: fc.integer({ min: 1, max: 4 }),
      isHeard: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.constantFrom(0, 1, 50, 150, 2000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("down", "up", "end", "miss", "forget", "wake" as const),
    }),
  },
);

/** By the clock of the run, which counts its steps. */
interface Entry {
  changedAt: number;
  toldAt: number;
}

/** The watch manager, its server and its branches, and what is known of them from outside. */
class Run {
  readonly #fixture: SqlFixture;
  readonly #expect: (value: unknown, message: string) => void;
  readonly #server = new FakeServer();
  /** By branch and topic, as all that follow. */
  readonly #wanted = new Set<string>();
  readonly #asking = new Map<string, number>();
  readonly #promised = new Map<string, Entry>();
  readonly #failing = new Map<number, { times: number; isHeard: boolean }>();
  readonly #lastSeq = new Map<number, { seq: number; isTaken: boolean }>();
  readonly #waiting = new Set<Promise<void>>();
  #clock = 0;
  #life = 0;
  #manager: WatchManager;

  constructor(fixture: SqlFixture, expectTrue: (value: unknown, message: string) => void) {
    this.#fixture = fixture;
    this.#expect = expectTrue;
    this.#manager = this.#begin();
  }

  async take(step: Step): Promise<void> {
    this.#clock += 1;
    switch (step.do) {
      case "want":
        this.#want(step.branch, step.topics);
        return;
      case "leave":
        for (const topic of step.topics) {
          this.#wanted.delete(`${step.branch} ${topic}`);
          this.#promised.delete(`${step.branch} ${topic}`);
        }
        await this.#manager.watch(step.branch, { add: [], remove: step.topics });
        return;
      case "change":
        for (const [key, entry] of this.#promised) {
          if (key.endsWith(` ${step.topic}`)) entry.changedAt = this.#clock;
        }
        this.#server.change(step.topic);
        return;
      case "fail":
        this.#failing.set(step.branch, { times: step.times, isHeard: step.isHeard });
        return;
      case "pass":
        await vi.advanceTimersByTimeAsync(step.ms);
        return;
      case "down":
        this.#server.isUp = false;
        this.#server.end("lost");
        return;
      case "up":
        this.#server.isUp = true;
        return;
      case "end":
        this.#server.end("closed");
        return;
      case "miss":
        // Anything may have changed meanwhile.
        for (const entry of this.#promised.values()) entry.changedAt = this.#clock;
        this.#server.miss();
        return;
      case "forget":
        this.#server.lose();
        vi.clearAllTimers();
        this.#forgotten();
        this.#manager = this.#begin();
        return;
      case "wake":
        this.#manager.wake();
    }
  }

  /** Whoever was not answered has no promise; but what they want may be on record already. */
  #forgotten(): void {
    this.#asking.clear();
    this.#waiting.clear();
  }

  /** When all is well, everything that is due is told. */
  async settle(): Promise<void> {
    this.#server.isUp = true;
    this.#failing.clear();
    await vi.advanceTimersByTimeAsync(TEN_MINUTES_MS);
    this.#expect(this.#waiting.size === 0, "somebody was not answered");
    for (const [key, { changedAt, toldAt }] of this.#promised) {
      this.#expect(toldAt >= changedAt, `${key} changed at ${changedAt}, and told at ${toldAt}`);
    }
  }

  async leave(): Promise<void> {
    for (const branch of BRANCHES) await this.#manager.watch(branch, { add: [], remove: TOPICS });
    this.#expect(vi.getTimerCount() === 0, `${vi.getTimerCount()} timers are left`);
    this.#expect(!this.#server.isWatched, "the server is watched for nobody");
    this.#expect(this.#fixture.rowsIn("wanted_1") === 0, "rows are left");
  }

  /** The answer comes when it comes: other things happen meanwhile. */
  #want(branch: number, topics: readonly Topic[]): void {
    const life = this.#life;
    for (const topic of topics) this.#ask(`${branch} ${topic}`, 1);
    const answered = this.#manager.watch(branch, { add: topics, remove: [] }).then((promised) => {
      this.#waiting.delete(answered);
      if (life !== this.#life) return;
      for (const topic of topics) {
        const key = `${branch} ${topic}`;
        this.#ask(key, -1);
        const isWanted = this.#wanted.has(key);
        if (promised.includes(topic) && isWanted && !this.#promised.has(key)) {
          this.#promised.set(key, { changedAt: -1, toldAt: -1 });
        }
        // What the gateway finds out of a list is told, whatever its server says.
        const isOver = !this.#promised.has(key) && !this.#asking.has(key);
        if (isOver && topic.startsWith("uri:")) this.#wanted.delete(key);
      }
    });
    this.#waiting.add(answered);
  }

  #ask(key: string, by: number): void {
    if (by > 0) this.#wanted.add(key);
    const count = (this.#asking.get(key) ?? 0) + by;
    if (count === 0) this.#asking.delete(key);
    else this.#asking.set(key, count);
  }

  #begin(): WatchManager {
    const life = ++this.#life;
    return new WatchManager({
      target: fakeTarget(() => new Response()),
      sql: {
        exec: (query, ...bindings) =>
          life === this.#life ? this.#fixture.sql.exec(query, ...bindings) : [],
      },
      limits: { subscribedUrisPerServer: 100, newsMilliseconds: 100 },
      events: {
        // Of a life that is over, nothing is seen.
        publish: async (branch, news) => {
          if (life === this.#life) await this.#publish(branch, news);
        },
        outdated: () => undefined,
      },
      now: Date.now,
      open: (uris, events) => (life === this.#life ? this.#server.open(uris, events) : NEVER),
    });
  }

  async #publish(branch: number, { seq, topics }: News): Promise<void> {
    const clock = this.#clock;
    const last = this.#lastSeq.get(branch);
    const isAgain = last?.isTaken === false && seq === last.seq;
    this.#expect(last === undefined || seq > last.seq || isAgain, `${seq} after ${last?.seq}`);
    this.#expect(topics.length > 0 && Number.isSafeInteger(seq), "news without topics");
    for (const topic of topics) {
      this.#expect(this.#wanted.has(`${branch} ${topic}`), `${branch} does not want ${topic}`);
    }
    const failing = this.#failing.get(branch);
    const fails = failing !== undefined && failing.times-- > 0;
    this.#lastSeq.set(branch, { seq, isTaken: !fails });
    await Promise.resolve();
    for (const topic of fails && !failing.isHeard ? [] : topics) {
      const entry = this.#promised.get(`${branch} ${topic}`);
      if (entry !== undefined) entry.toldAt = clock;
    }
    if (fails) throw new Error("not to be had");
  }
}

const NEVER = new Promise<never>(() => undefined);

afterEach(() => {
  vi.useRealTimers();
});

describe("a watch manager", () => {
  test(
    "publishes every change to the branches that were promised it, and to no other",
    { timeout: 60_000 },
    async ({ expect }) => {
      await withSql(async (fixture) => {
        vi.useFakeTimers();
        await fc.assert(
          fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
            vi.clearAllTimers(); // of a run that failed
            for (const table of ["wanted_1", "news_lives_1"]) {
              fixture.sql.exec(`DROP TABLE IF EXISTS ${table}`);
            }
            const run = new Run(fixture, (value, message) => expect(value, message).toBe(true));
            for (const step of steps) await run.take(step);
            await run.settle();
            await run.leave();
          }),
          { numRuns: 150 },
        );
        vi.useRealTimers();
      });
    },
  );
});
