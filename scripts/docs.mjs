/**
 * `npm run docs` writes the blocks of the documents that are made from the code: the table of limits,
 * and the matrix of eras. `npm run docs -- --check` writes nothing, and fails if a document is behind.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { LIMITS } from "../src/policy/limits.ts";
import { FEATURES } from "../test/e2e/matrix-features.ts";
import { gridOf, tableOf } from "../test/e2e/matrix-table.ts";
import { withBlock } from "./blocks.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @type {readonly { file: string, name: string, made: string }[]} */
const BLOCKS = [
  { file: "README.md", name: "grid", made: gridOf(FEATURES) },
  { file: "docs/eras.md", name: "matrix", made: tableOf(FEATURES) },
  { file: "docs/configuration.md", name: "limits", made: tableOfLimits() },
];

/** @returns the names of the documents that differ from the code. */
export function outdatedDocuments() {
  return BLOCKS.filter((block) => read(block.file) !== written(block)).map(({ file }) => file);
}

function tableOfLimits() {
  const rows = Object.entries(LIMITS).map(
    ([name, { default: usual, min, max, reason }]) =>
      `| \`${name}\` | ${inWords(usual)} | ${inWords(min)} to ${inWords(max)} | ${reason} |`,
  );
  return ["| Limit | Default | Possible | Why |", "|---|--:|---|---|", ...rows].join("\n");
}

function inWords(/** @type {number} */ value) {
  return value.toLocaleString("en-US");
}

/** @returns the document with its block made anew. */
function written(/** @type {(typeof BLOCKS)[number]} */ { file, name, made }) {
  return withBlock(read(file), name, made);
}

function read(/** @type {string} */ file) {
  return readFileSync(`${root}${file}`, "utf8");
}

if (import.meta.main) {
  const outdated = outdatedDocuments();
  if (process.argv.includes("--check")) {
    for (const file of outdated) process.stderr.write(`${file} is behind: npm run docs\n`);
    process.exitCode = outdated.length === 0 ? 0 : 1;
  } else {
    for (const block of BLOCKS) writeFileSync(`${root}${block.file}`, written(block));
  }
}
