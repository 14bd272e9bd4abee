/** Measures what was asked for, and prints it: all of it, or what went wrong. */

import { loadavg } from "node:os";

import { type Arguments, isAsked } from "./arguments.ts";
import { linesOf } from "./lines.ts";
import { joinPasses } from "./join.ts";
import { keepAwake } from "./machinery/awake.ts";
import { goFirst } from "./machinery/precedence.ts";
import { HOW_TO_READ, reportAs } from "./report.ts";
import type { Result } from "./row.ts";
import type { RowName } from "./row-names.ts";
import { SCHEDULE } from "./rows/all.ts";
import { targetsOf } from "./targets.ts";
import { versions } from "./versions.ts";

/** For one measurement that takes as long as the servers do, be it of few participants or many. */
const PATIENCE_SECONDS = 4;

/** @returns whether everything was measured. What was not is named, and has no line. */
export async function bench(given: Arguments): Promise<boolean> {
  const { rounds, seconds, output } = given;
  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / 1000;
  const say = (what: string): void => {
    process.stderr.write(`${elapsed().toFixed(0).padStart(4)} s  ${what}\n`);
  };
  const before = load();
  const plan = { rounds, seconds, say, patienceSeconds: PATIENCE_SECONDS };
  const conditions = [
    goFirst() ? "before all other programs" : "beside all other programs (not root)",
    (await keepAwake()) ? "processors kept awake" : "processors may sleep (no chrt)",
  ];
  const measured = new Map<RowName, readonly Result[]>();
  const failed = new Map<RowName, string>();
  for (const { name, measure } of SCHEDULE) {
    if (!isAsked(given, name) || failed.has(name)) continue;
    try {
      measured.set(name, [...(measured.get(name) ?? []), ...(await measure(plan))]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failed.set(name, `${name}: ${reason.split("\n", 1)[0]}`); // what a program said stands above
      measured.delete(name); // half of it is not what was asked for
      say(`FAILED  ${name}: ${reason}`);
    }
  }
  const results = joinPasses([...measured.values()].flat());
  const failures = [...failed.values()];
  const took = `Up to ${rounds} rounds of ${seconds} s in each of two passes; ${elapsed().toFixed(0)} s in all; load of the machine before and after: ${before}, ${load()}; ${conditions.join(", ")}`;
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
