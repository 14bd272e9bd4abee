/**
 * `node scripts/measure-json.mjs`: what it takes to keep the digits of numbers
 * (`docs/decisions/013-numbers-keep-their-text.md`), in microseconds for each text.
 */

import { parseLossless } from "../src/lib/lossless-json.ts";
import { scanJson } from "../src/lib/scan-json.ts";

const ROUNDS = 9;
/** So many characters are read in a round. */
const ROUND_CHARS = 1_500_000;
const MEGABYTE = 1_000_000;

const SENTENCE = 'The quick brown fox v1.0 jumps over "lazy" dogs for 10.50';

/** @typedef {(text: string) => unknown} Read */

/** @type {readonly (readonly [string, string])[]} */
const TEXTS = [
  ["300 bytes of text", result(300, () => ({ type: "text", text: SENTENCE }))],
  ["10 KB of text", result(10_000, () => ({ type: "text", text: SENTENCE }))],
  ["1 MB of text", result(MEGABYTE, () => ({ type: "text", text: SENTENCE }))],
  ["1 MB of objects", result(MEGABYTE, (n) => ({ id: n, name: `item ${n}`, price: n / 4, at: n }))],
  ["1 MB of fractions", result(MEGABYTE, (n) => [Math.sin(n), Math.cos(n) * 1000])],
  ["1 MB as one string", JSON.stringify({ data: "QUJD".repeat(MEGABYTE / 4) })],
];

/** @type {readonly (readonly [string, Read])[]} */
const WAYS = [
  ["JSON.parse", (text) => JSON.parse(text)],
  ["scan", (text) => scanJson(text)],
];

/**
 * Of a text with one number that a double would change.
 * @type {readonly (readonly [string, Read])[]}
 */
const WAYS_WITH_ONE = [
  ["mark and walk", (text) => parseLossless(text)],
  ["reviver", (text) => JSON.parse(text, exactNumber)],
];

print(
  "",
  [...WAYS, ...WAYS_WITH_ONE].map(([name]) => name),
);
for (const [name, text] of TEXTS) {
  const withOne = text.replace(/\}$/, ',"x":1.0}');
  const times = [
    ...WAYS.map(([, read]) => microseconds(read, text)),
    ...WAYS_WITH_ONE.map(([, read]) => microseconds(read, withOne)),
  ];
  print(
    name,
    times.map((time) => time.toFixed(1)),
  );
}

/** @returns a result of a tool of at least so many characters. */
function result(/** @type {number} */ chars, /** @type {(n: number) => unknown} */ item) {
  const content = [];
  for (let length = 0; length < chars;) {
    const next = item(content.length);
    content.push(next);
    length += JSON.stringify(next).length;
  }
  return JSON.stringify({ jsonrpc: "2.0", id: 7, result: { content } });
}

/** @returns the least of several rounds, after one that warms up. */
function microseconds(/** @type {Read} */ read, /** @type {string} */ text) {
  const times = Math.max(5, Math.floor(ROUND_CHARS / text.length));
  let least = Infinity;
  for (let round = 0; round <= ROUNDS; round++) {
    const startedAt = performance.now();
    for (let n = 0; n < times; n++) read(text);
    const each = ((performance.now() - startedAt) * 1000) / times;
    if (round > 0) least = Math.min(least, each);
  }
  return least;
}

function exactNumber(
  /** @type {string} */ _key,
  /** @type {unknown} */ value,
  // TypeScript does not know the third parameter yet.
  /** @type {{ source?: string }} */ { source = "" } = {},
) {
  return typeof value === "number" && String(value) !== source ? JSON.rawJSON(source) : value;
}

function print(/** @type {string} */ name, /** @type {readonly string[]} */ cells) {
  process.stdout.write(`${name.padEnd(20)}${cells.map((cell) => cell.padStart(15)).join("")}\n`);
}
