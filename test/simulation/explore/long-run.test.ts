/** A run that goes on after findings says where it goes on when it was broken off. */

import { describe, test } from "vitest";

import { Coverage } from "./coverage.ts";
import { newRun, playAll, type RunRecord } from "./long-run.ts";
import type { Job, Report } from "./search.ts";

/** Plays so many schedules of each job, one report for each, and finds something in these seeds. */
class FakePlayer {
  readonly jobs: Job[] = [];
  readonly #most: number;
  readonly #bad: readonly number[];

  constructor(most: number, bad: readonly number[] = []) {
    this.#most = most;
    this.#bad = bad;
  }

  async play(job: Job, onReport: (report: Report) => void = () => undefined): Promise<Report> {
    this.jobs.push(job);
    const count = Math.min(job.count, this.#most);
    const one = { ...new Coverage().counts, schedules: 1 };
    for (let index = 0; index < count; index += 1) {
      const seed = job.from + index * job.stride;
      const found = this.#bad.includes(seed) ? { seed, findings: ["a finding"] } : undefined;
      onReport({ coverage: one, cpuSeconds: index + 1, found, isOver: false });
    }
    if (count < job.count) await new Promise(() => undefined);
    return { coverage: one, cpuSeconds: count, isOver: true };
  }
}

describe("a long run", () => {
  test("deals the seeds out, and goes on after a finding", async ({ expect }) => {
    const players = [new FakePlayer(Infinity, [104]), new FakePlayer(Infinity, [101, 103])];
    const said: string[] = [];
    const run = {
      fault: undefined,
      before: newRun(100),
      schedules: 5,
      signal: new AbortController().signal,
    };
    const { found, coverage } = await playAll(run, players, { say: (line) => said.push(line) });
    const shares = players.flatMap(({ jobs }) =>
      jobs.map(({ from, stride, count }) => [from, stride, count]),
    );
    expect(shares).toEqual([
      [100, 2, 3],
      [101, 2, 2],
    ]);
    expect(new Set(found.map(({ seed }) => seed))).toEqual(new Set([101, 103, 104]));
    expect(coverage.schedules).toBe(5);
    expect(said).toContain("Seed 103: a finding");
    expect(said.at(-1)).toMatch(/^5 schedules in \d+\.\d minutes, seeds from 100\.$/);
  });

  test("that is broken off goes on with the first seed that was not played", async ({ expect }) => {
    const interrupted = new AbortController();
    const said: string[] = [];
    const run = {
      fault: undefined,
      before: newRun(100),
      schedules: 50,
      signal: interrupted.signal,
    };
    // The second has played up to 103, the first up to 108.
    const kept: RunRecord[] = [];
    const told = {
      say: (line: string) => said.push(line),
      keep: (record: RunRecord) => kept.push(record),
    };
    const playing = playAll(run, [new FakePlayer(5, [102]), new FakePlayer(2)], told);
    interrupted.abort();
    const { coverage } = await playing;
    expect(coverage.schedules).toBe(7);
    expect(said.at(-2)).toMatch(/; to go on: --from 105 --schedules 45$/);
    const before = kept.at(-1) ?? newRun(0);
    expect(before).toMatchObject({ from: 100, next: 105, found: [{ seed: 102 }] });

    const players = [new FakePlayer(Infinity, [107]), new FakePlayer(Infinity)];
    const again = { ...run, before, signal: new AbortController().signal };
    const whole = await playAll(again, players, told);
    expect(players.flatMap(({ jobs }) => jobs.map(({ from, count }) => [from, count]))).toEqual([
      [105, 23],
      [106, 22],
    ]);
    expect(whole.coverage.schedules).toBe(7 + 45);
    expect(whole.found.map(({ seed }) => seed)).toEqual([102, 107]);
    expect(kept.at(-1)).toMatchObject({ from: 100, next: 150 });
    expect(said.at(-1)).toMatch(/^50 schedules in /);
  });
});
