/**
 * `npm run docs` writes the blocks of the documents that are made from the code: the table of limits,
 * the matrix of eras, the drawing of the rooms, and the model of scale. `npm run docs -- --check` writes nothing,
 * and fails if a document is behind.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { LIMITS } from "../src/policy/limits.ts";
import { FEATURES } from "../test/e2e/matrix-features.ts";
import { gridOf, tableOf } from "../test/e2e/matrix-table.ts";
import { withBlock } from "./blocks.ts";
import { drawRooms } from "./rooms.mjs";
import { dayTable, limitsTable, mixTable, partsTable } from "./scale/page.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @type {readonly { file: string, name: string, made: string }[]} */
const BLOCKS = [
  { file: "README.md", name: "grid", made: gridOf(FEATURES) },
  { file: "docs/eras.md", name: "matrix", made: tableOf(FEATURES) },
  { file: "docs/configuration.md", name: "limits", made: tableOfLimits() },
  { file: "ARCHITECTURE.md", name: "rooms", made: drawRooms() },
  { file: "docs/design/scale.md", name: "mix", made: mixTable() },
  { file: "docs/design/scale.md", name: "day", made: dayTable() },
  { file: "docs/design/scale.md", name: "parts", made: partsTable() },
  { file: "docs/design/scale.md", name: "limits", made: limitsTable() },
];

/** @returns the names of the documents that differ from the code. */
export function outdatedDocuments() {
  return BLOCKS.filter((block) => read(block.file) !== written(block)).map(({ file }) => file);
}

/** @throws Error when a limit has no reason: the comment above it, which is no part of the program. */
function tableOfLimits() {
  const source = read("src/policy/limits.ts");
  const reasons = new Map(
    Array.from(
      source.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}(\w+): \{/g),
      ([, comment = "", name]) => [name, comment.replaceAll(/\s*\n?\s*\*?\s+/g, " ").trim()],
    ),
  );
  const rows = Object.entries(LIMITS).map(([name, { default: usual, min, max }]) => {
    const reason = reasons.get(name);
    if (reason === undefined || !/^[A-Z`].{20,}\.$/.test(reason)) {
      throw new Error(`The limit ${name} has no reason, in a sentence above it`);
    }
    return `| \`${name}\` | ${inWords(usual)} | ${inWords(min)} to ${inWords(max)} | ${reason} |`;
  });
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
