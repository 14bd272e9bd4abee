/**
 * `npm run docs` writes the blocks of the documents that are made from the code: the table of limits,
 * the matrix of eras, the drawing of the rooms, and the model of scale. `npm run docs -- --check` writes nothing,
 * and fails if a document is behind.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { SPELLINGS } from "../src/config/clients/spellings.ts";
import { LIMITS } from "../src/policy/limits.ts";
import { FEATURES } from "../test/e2e/matrix-features.ts";
import { gridOf, tableOf } from "../test/e2e/matrix-table.ts";
import { withBlock } from "./blocks.ts";
import { drawRooms } from "./rooms.mjs";
import { freeTable } from "./scale/free.ts";
import { dayTable, limitsTable, mixTable, partsTable } from "./scale/page.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @type {Readonly<Record<import("../src/config/clients/spellings.ts").Meaning, string>>} */
const MEANINGS = {
  url: "`url`",
  type: "`type`",
  headers: "`headers`",
  timeoutSeconds: "`timeoutSeconds`",
  token: "the secret of that name, as a bearer token",
  "secret-headers": "`headers`, each from the secret of that name",
  allow: "`tools.allow`",
  deny: "`tools.deny`",
  "off-if-true": "`true` switches the server off",
  "off-if-false": "`false` switches the server off",
  program: "the server is a program",
  ignored: "nothing: it concerns the client alone",
};

/** @type {readonly { file: string, name: string, made: string }[]} */
const BLOCKS = [
  { file: "README.md", name: "grid", made: gridOf(FEATURES) },
  { file: "docs/eras.md", name: "matrix", made: tableOf(FEATURES) },
  { file: "docs/configuration.md", name: "limits", made: tableOfLimits() },
  { file: "docs/configuration.md", name: "spellings", made: tableOfSpellings() },
  { file: "ARCHITECTURE.md", name: "rooms", made: drawRooms() },
  { file: "docs/design/scale.md", name: "mix", made: mixTable() },
  { file: "docs/design/scale.md", name: "day", made: dayTable() },
  { file: "docs/design/scale.md", name: "parts", made: partsTable() },
  { file: "docs/design/scale.md", name: "limits", made: limitsTable() },
  { file: "docs/operations.md", name: "free", made: freeTable() },
];

/** @returns the names of the documents that differ from the code. */
export function outdatedDocuments() {
  return BLOCKS.filter((block) => read(block.file) !== written(block)).map(({ file }) => file);
}

/** The comments above the keys of a table, which are no part of the program. */
function commentsOf(/** @type {string} */ file) {
  return new Map(
    Array.from(
      read(file).matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}(\w+): /g),
      ([, comment = "", name]) => [name, comment.replaceAll(/\s*\n?\s*\*?\s+/g, " ").trim()],
    ),
  );
}

/** @throws Error when a key does not say whose it is. */
function tableOfSpellings() {
  const clients = commentsOf("src/config/clients/spellings.ts");
  const rows = Object.entries(SPELLINGS).map(([key, meaning]) => {
    const whose = clients.get(key);
    if (whose === undefined) throw new Error(`The key ${key} has no clients, above it`);
    return `| \`${key}\` | ${whose} | ${MEANINGS[meaning]} |`;
  });
  return ["| Key | Clients | Here |", "|---|---|---|", ...rows].join("\n");
}

/** @throws Error when a limit has no reason, above it. */
function tableOfLimits() {
  const reasons = commentsOf("src/policy/limits.ts");
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
