/** Measures what was asked for, and prints it: all of it, or what went wrong. */

import { loadavg } from "node:os";

import { type Arguments, isAsked } from "./arguments.ts";
import { linesOf } from "./lines.ts";
import { HOW_TO_READ, reportAs } from "./report.ts";
import type { Result } from "./row.ts";
import { ROWS } from "./rows/all.ts";
import { targetsOf } from "./targets.ts";
import { versions } from "./versions.ts";

/** For one measurement, be it of few participants or many; and when the calls took long, for the rest. */
const PATIENCE_SECONDS = 10;
const LATE_PATIENCE_SECONDS = 4;
const LATE_SECONDS = 240;

/** @returns whether everything was measured. What was not is named, and has no line. */
export async function bench(given: Arguments): Promise<boolean> {
  const { rounds, seconds, output } = given;
  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / 1000;
  const say = (what: string): void => {
    process.stderr.write(`${elapsed().toFixed(0).padStart(4)} s  ${what}\n`);
  };
  const before = load();
  const results: Result[] = [];
  const failures: string[] = [];
  for (const { name, measure } of ROWS) {
    if (!isAsked(given, name)) continue;
    try {
      const patienceSeconds = elapsed() < LATE_SECONDS ? PATIENCE_SECONDS : LATE_PATIENCE_SECONDS;
      results.push(...(await measure({ rounds, seconds, say, patienceSeconds })));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failures.push(`${name}: ${reason.split("\n", 1)[0]}`); // what a program said stands above
      say(`FAILED  ${name}: ${reason}`);
    }
  }
  const took = `Up to ${rounds} rounds of ${seconds} s; ${elapsed().toFixed(0)} s in all; load of the machine before and after: ${before}, ${load()}`;
  const about = [versions(), took, ...HOW_TO_READ];
  const notes = [...new Set(results.flatMap(({ row, notes }) => notes.map((n) => `${row}: ${n}`)))];
  const lines = linesOf(results);
  const report = { about, targets: targetsOf(lines), lines, notes, failures };
  process.stdout.write(reportAs(output, report));
  for (const failure of failures) process.stderr.write(`Not measured: ${failure}\n`);
  return failures.length === 0;
}

/** How many processes wanted a processor in the last minute. */
function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
