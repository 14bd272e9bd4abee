/** Measures what was asked for, and prints it: all of it, or what went wrong. */

import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { resolve } from "node:path";

import { type Arguments, isAsked } from "./arguments.ts";
import { chartOf } from "./chart.ts";
import { CHART, documentOf } from "./document.ts";
import { linesOf } from "./lines.ts";
import { keepAwake } from "./machinery/awake.ts";
import { compareWith } from "./machinery/field.ts";
import { goFirst } from "./machinery/precedence.ts";
import { unexplained } from "./missed.ts";
import { measureInPasses } from "./passes.ts";
import { HOW_TO_READ, type Report, reportAs } from "./report.ts";
import { SCHEDULE } from "./rows/all.ts";
import { targetsOf } from "./targets.ts";
import { versions } from "./versions.ts";

const DOCS = new URL("../docs/", import.meta.url);
/** For one measurement that takes as long as the servers do, be it of few participants or many. */
const PATIENCE_SECONDS = 4;

/**
 * @returns whether everything was measured, and nothing is left to be written. What was not measured is named,
 * and has no line.
 */
export async function bench(given: Arguments): Promise<boolean> {
  const { rounds, seconds, output } = given;
  if (given.against !== undefined) compareWith(resolve(given.against));
  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / 1000;
  const say = (what: string): void => {
    process.stderr.write(`${elapsed().toFixed(0).padStart(4)} s  ${what}\n`);
  };
  const before = load();
  // What keeps the processors awake would take half of what is measured, if that did not go first.
  const isUndisturbed = goFirst() && (await keepAwake());
  const { results, failures, notAgain } = await measureInPasses(
    SCHEDULE.filter(({ name }) => isAsked(given, name)),
    { rounds, seconds, say, patienceSeconds: PATIENCE_SECONDS },
    elapsed,
  );
  const conditions = [
    `Up to ${rounds} rounds of ${seconds} s in each of two passes`,
    ...(notAgain.length === 0 ? [] : [`no time for the second of ${notAgain.join(", ")}`]),
    `${elapsed().toFixed(0)} s in all`,
    `load of the machine before and after: ${before}, ${load()}`,
    isUndisturbed
      ? "before all other programs, processors kept at work"
      : "beside all other programs, since going before them takes root, Linux and chrt",
  ];
  const about = [versions(), conditions.join("; "), ...HOW_TO_READ];
  const notes = [...new Set(results.flatMap(({ row, notes }) => notes.map((n) => `${row}: ${n}`)))];
  const lines = linesOf(results);
  const report = { about, targets: targetsOf(lines), lines, notes, failures };
  process.stdout.write(reportAs(output, report));
  const problems = failures.map((failure) => `Not measured: ${failure}`);
  if (given.write) problems.push(...write(report));
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  return problems.length === 0;
}

/** @returns what is left to be written by hand. */
function write(report: Report): readonly string[] {
  const file = new URL("benchmarks.md", DOCS);
  const text = documentOf(readFileSync(file, "utf8"), report);
  writeFileSync(file, text);
  writeFileSync(new URL(CHART, DOCS), chartOf(report.lines));
  return unexplained(text);
}

/** How many processes wanted a processor in the last minute. */
function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
