/** A run of so many schedules, which goes on after a finding, and which can be broken off and continued. */

import { Coverage } from "./coverage.ts";
import type { Found, Player } from "./search.ts";

const PROGRESS_MS = 10_000;

export interface LongRun {
  readonly fault: string | undefined;
  readonly from: number;
  readonly schedules: number;
  /** Breaks it off. */
  readonly signal: AbortSignal;
}

/** @returns every finding, and the coverage. @param say prints a line. */
export async function playAll(
  { fault, from, schedules, signal }: LongRun,
  players: readonly Pick<Player, "play">[],
  say: (text: string) => void,
): Promise<{ readonly found: readonly Found[]; readonly coverage: Coverage }> {
  const coverage = new Coverage();
  const found: Found[] = [];
  const startedAt = performance.now();
  const stride = players.length;
  const parts = players.map((player, index) => ({ player, index, done: 0, cpuSeconds: 0 }));
  const progress = (): string => {
    const seconds = (performance.now() - startedAt) / 1000;
    const cpu = parts.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
    // The players are not equally quick.
    const next = Math.min(...parts.map(({ index, done }) => from + index + done * stride));
    const speed = `${(coverage.schedules / seconds).toFixed(1)} a second, ${(coverage.schedules / cpu).toFixed(1)} a second of processor time`;
    return `${coverage.progress}; ${found.length} findings; ${speed}; to go on: --from ${next} --schedules ${from + schedules - next}`;
  };
  const telling = setInterval(() => say(progress()), PROGRESS_MS);
  const plays = parts.map(async (part) => {
    const count = Math.ceil((schedules - part.index) / stride);
    const job = { fault, from: from + part.index, stride, count };
    await part.player.play({ ...job, cpuSeconds: 2 ** 31, goesOn: true }, (report) => {
      coverage.merge(report.coverage);
      part.done += report.coverage.schedules;
      part.cpuSeconds = report.cpuSeconds;
      if (report.found === undefined) return;
      found.push(report.found);
      say(`Seed ${report.found.seed}: ${report.found.findings.join("; ")}`);
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
  say(progress());
  const minutes = (performance.now() - startedAt) / 60_000;
  const played = coverage.schedules.toLocaleString("en");
  say(`${played} schedules in ${minutes.toFixed(1)} minutes, seeds from ${from}.`);
  return { found, coverage };
}
