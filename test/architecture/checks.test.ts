/** Each row of a list of checks stands in the title of a test, or among the list's own exceptions. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";

import { ROOT } from "../support/process.ts";

const LISTS = [
  { path: "docs/checks/oauth.md", letter: "B", rows: 134 },
  { path: "docs/checks/accounts.md", letter: "U", rows: 78 },
  { path: "docs/checks/stdio.md", letter: "S", rows: 19 },
  { path: "docs/checks/console.md", letter: "P", rows: 19 },
  { path: "docs/checks/console.md", letter: "R", rows: 7 },
  { path: "docs/checks/console.md", letter: "T", rows: 16 },
] as const;

const NUMBER = /\b[BPRSTU]\d+[a-z]?\b/g;
/** A text of one line; titles are such texts. */
const TEXT = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`/g;

function numbersIn(text: string): readonly string[] {
  return Array.from(text.matchAll(NUMBER), ([number]) => number);
}

/** The numbers in the texts of all tests. */
const TITLED: ReadonlySet<string> = new Set(
  globSync("test/**/*.test.ts", { cwd: ROOT })
    .filter((path) => !path.endsWith("checks.test.ts"))
    .map((path) => readFileSync(join(ROOT, path), "utf8"))
    .flatMap((code) => code.match(TEXT) ?? [])
    .flatMap(numbersIn),
);

/** The rows that a list says it has no test for: its items give the reasons. */
function exceptionsOf(document: string): readonly string[] {
  const [, rest = ""] = document.split("There are no tests for these:\n");
  const [items = ""] = rest.trimStart().split("\n\n");
  return items
    .split("\n")
    .flatMap((item) => numbersIn(/^- \*\*(.*?)\*\*: ./.exec(item)?.[1] ?? ""));
}

describe.each(LISTS)("$path, $letter", ({ path, letter, rows: count }) => {
  const document = readFileSync(join(ROOT, path), "utf8");
  const pattern = new RegExp(String.raw`^\| (${letter}\d+[a-z]?) \|`, "gm");
  const rows = Array.from(document.matchAll(pattern), ([, number = ""]) => number);
  const exceptions = exceptionsOf(document).filter((row) => row.startsWith(letter));

  test("has each row once", ({ expect }) => {
    expect(rows).toHaveLength(count);
    expect(new Set(rows).size).toBe(count);
  });

  test("has a test for each row that is no exception", ({ expect }) => {
    const missing = rows.filter((row) => !TITLED.has(row) && !exceptions.includes(row));
    expect(missing).toEqual([]);
  });

  test("excepts rows that it has, and that no test has", ({ expect }) => {
    expect(exceptions.filter((row) => !rows.includes(row) || TITLED.has(row))).toEqual([]);
  });
});
