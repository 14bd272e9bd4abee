/**
 * What the gateway writes to its log, as `npm start` shows it: deployed, every line is JSON; here,
 * a line for people to read. What wrangler itself says of requests and bindings is left out.
 */

import { stripVTControlCharacters } from "node:util";

/** What wrangler puts before a warning or an error of a Worker's log, which it prints apart. */
const LEVEL = /^(?:▲ \[WARNING\]|✘ \[ERROR\]) +(?=\{)/;

/**
 * @param worker the name of the gateway's Worker, which wrangler puts before each of its lines.
 * @returns takes what wrangler prints, in chunks, and returns what is shown of it.
 */
export function logReader(
  /** @type {string} */ worker,
  /** @type {() => Date} */ now = () => new Date(),
) {
  const prefix = `[${worker}] `;
  let rest = "";
  return (/** @type {string} */ chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    return lines
      .map((line) => stripVTControlCharacters(line))
      .filter((line) => line.startsWith(prefix))
      .map((line) => `${clockOf(now())}  ${readable(line.slice(prefix.length))}\n`)
      .join("");
  };
}

/**
 * The same for warnings and errors, which wrangler mixes with its own. Those stay as they are.
 *
 * @returns as above.
 */
export function warningReader(/** @type {() => Date} */ now = () => new Date()) {
  let rest = "";
  let isSpaced = false;
  return (/** @type {string} */ chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    return lines
      .map((line) => {
        const text = stripVTControlCharacters(line);
        const fields = LEVEL.test(text) ? fieldsOf(text.replace(LEVEL, "")) : undefined;
        // wrangler puts two empty lines after each.
        isSpaced = fields !== undefined || (isSpaced && text === "");
        if (fields !== undefined) return `${clockOf(now())}  ${inWords(fields)}\n`;
        return isSpaced ? "" : `${line}\n`;
      })
      .join("");
  };
}

function clockOf(/** @type {Date} */ time) {
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

/** @returns a line of the log in words; as it is, if it is not one of an event. */
function readable(/** @type {string} */ line) {
  const fields = fieldsOf(line);
  return fields === undefined ? line : inWords(fields);
}

function inWords(/** @type {Readonly<Record<string, unknown>>} */ fields) {
  const { event, message, ...rest } = fields;
  if (event !== "call") {
    const said = typeof message === "string" ? [sentence(message)] : [];
    return [event, ...Object.entries(rest).map(named), ...said].join("  ");
  }
  const { method, server, name, outcome, ms, principal, requestBytes, resultBytes } = rest;
  const what = [method, server, name, outcome].filter((value) => value !== undefined).map(word);
  const size = `${word(requestBytes)} B in, ${word(resultBytes)} B out`;
  return [...what, `${word(ms)} ms`, size, `by ${word(principal)}`].join("  ");
}

/** @returns {Readonly<Record<string, unknown>> | undefined} */
function fieldsOf(/** @type {string} */ line) {
  try {
    const value = JSON.parse(line);
    return typeof value?.event === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function named(/** @type {readonly [string, unknown]} */ [name, value]) {
  return `${name}=${word(value)}`;
}

/** At the end of its line, so it needs no quotes; it cannot begin another line. */
function sentence(/** @type {string} */ text) {
  return stripVTControlCharacters(text).replaceAll(/\p{Cc}+/gu, " ");
}

/** A value as one word: what clients name themselves cannot pass for another field. */
function word(/** @type {unknown} */ value) {
  return typeof value === "string" && /^\S+$/.test(value) ? value : JSON.stringify(value);
}
