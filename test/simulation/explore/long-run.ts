/**
 * A run of so many schedules, which goes on after a finding. It can be broken off, and goes on where it was by the
 * record that it keeps.
 */

import { Coverage, type CoverageCounts } from "./coverage.ts";
import type { Found, Player } from "./search.ts";

const PROGRESS_MS = 10_000;

/** How far a run has come. */
export interface RunRecord {
  readonly from: number;
  /** The first seed that was not played. */
  readonly next: number;
  readonly minutes: number;
  readonly cpuSeconds: number;
  readonly found: readonly Found[];
  /** With some that were played twice, since the players are not equally quick where a run is broken off. */
  readonly coverage: CoverageCounts;
}

export interface LongRun {
  readonly fault: string | undefined;
  /** How many the whole run has. */
  readonly schedules: number;
  /** Where it goes on. */
  readonly before: RunRecord;
  /** Breaks it off. */
  readonly signal: AbortSignal;
}

interface Told {
  /** Prints a line. */
  readonly say: (text: string) => void;
  /** Called as the run goes on, and at its end. */
  readonly keep?: (record: RunRecord) => void;
}

/** A run that has played nothing yet. @param from its first seed. */
export function newRun(from: number): RunRecord {
  const { counts: coverage } = new Coverage();
  return { from, next: from, minutes: 0, cpuSeconds: 0, found: [], coverage };
}

/** @returns every finding, and the coverage, with those of before. */
export async function playAll(
  { fault, schedules, before, signal }: LongRun,
  players: readonly Pick<Player, "play">[],
  { say, keep = () => undefined }: Told,
): Promise<{ readonly found: readonly Found[]; readonly coverage: Coverage }> {
  const { from, next: begin } = before;
  const end = from + schedules;
  const coverage = new Coverage();
  coverage.merge(before.coverage);
  const found = [...before.found];
  const startedAt = performance.now();
  const stride = players.length;
  const parts = players.map((player, index) => ({ player, index, done: 0, cpuSeconds: 0 }));
  const record = (): RunRecord => ({
    from,
    next: Math.min(end, ...parts.map(({ index, done }) => begin + index + done * stride)),
    minutes: before.minutes + (performance.now() - startedAt) / 60_000,
    cpuSeconds: parts.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, before.cpuSeconds),
    found,
    coverage: coverage.counts,
  });
  const progress = (): RunRecord => {
    const now = record();
    keep(now);
    const played = coverage.schedules - before.coverage.schedules;
    const perSecond = played / (now.minutes - before.minutes) / 60;
    const perCpuSecond = played / (now.cpuSeconds - before.cpuSeconds);
    const speed = `${perSecond.toFixed(1)} a second, ${perCpuSecond.toFixed(1)} a second of processor time`;
    say(
      `${coverage.progress}; ${found.length} findings; ${speed}; to go on: --from ${now.next} --schedules ${end - now.next}`,
    );
    return now;
  };
  const telling = setInterval(progress, PROGRESS_MS);
  const plays = parts.map(async (part) => {
    const count = Math.ceil((end - begin - part.index) / stride);
    const job = { fault, from: begin + part.index, stride, count };
    await part.player.play({ ...job, cpuSeconds: 2 ** 31, goesOn: true }, (report) => {
      coverage.merge(report.coverage);
      part.done += report.coverage.schedules;
      part.cpuSeconds = report.cpuSeconds;
      if (report.found === undefined) return;
      say(`Seed ${report.found.seed}: ${report.found.findings.join("; ")}`);
      if (found.every(({ seed }) => seed !== report.found?.seed)) found.push(report.found);
    });
  });
  const brokenOff = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve());
  });
  try {
    await Promise.race([Promise.all(plays), brokenOff]);
  } finally {
    clearInterval(telling);
  }
  const { next, minutes } = progress();
  const played = (next - from).toLocaleString("en");
  say(`${played} schedules in ${minutes.toFixed(1)} minutes, seeds from ${from}.`);
  return { found, coverage };
}
