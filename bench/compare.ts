/** `--compare FIRST.json,SECOND.json`: whether two runs say the same. */

import { readFileSync } from "node:fs";

import { agreementAsText, doAgree, pairsOf } from "./agreement.ts";
import type { Report } from "./report.ts";

/** @returns whether they agree. @throws Error when a file is no report. */
export function compareRuns([first, second]: readonly [string, string]): boolean {
  const pairs = pairsOf(linesIn(first), linesIn(second));
  process.stdout.write(agreementAsText(pairs));
  return doAgree(pairs);
}

function linesIn(path: string): Report["lines"] {
  const { lines } = JSON.parse(readFileSync(path, "utf8")) as Partial<Report>;
  if (!Array.isArray(lines)) throw new Error(`${path} is not what --json writes`);
  return lines;
}
