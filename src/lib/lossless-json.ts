/**
 * Parses JSON so that `JSON.stringify` writes each number as it was. A JavaScript number is a double: as such,
 * `12345678901234567890` ends in zeros, `1e400` is written as `null`, and `1.0` as `1`.
 */

import { normalForm } from "./decimal.ts";
import { scanJson, type Span } from "./scan-json.ts";

/** A number that is kept as its text. It is no object to anything but JavaScript, and cannot be cloned. */
interface RawNumber {
  readonly rawJSON: string;
}

/** A number of a parsed text. */
export type JsonNumber = number | RawNumber;

declare global {
  // Of the proposal "JSON.parse source text access", which V8 has; TypeScript does not know it yet.
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/**
 * A text seldom has such a number, so it is parsed as it is, at no cost but the scan. Where it has one, they
 * are put into the tree in a second walk: a reviver with the source text takes three times as long.
 *
 * @param inexact of the scan of this text, if the caller has made one.
 * @throws SyntaxError for text that is not JSON.
 */
export function parseLossless(
  text: string,
  inexact: readonly Span[] = scanJson(text).inexact,
): unknown {
  if (inexact.length === 0) return JSON.parse(text);
  const mark = crypto.randomUUID();
  return unmark(JSON.parse(marked(text, inexact, mark)), mark);
}

/** @returns the value, or `undefined` for text that is not JSON: JSON itself has no such value. */
export function tryLossless(text: string, inexact?: readonly Span[]): unknown {
  try {
    return parseLossless(text, inexact);
  } catch {
    return undefined;
  }
}

/**
 * Replaces each of these numbers with a list of one text. It cannot be the key of an object either, so that
 * text which was not JSON is none afterwards.
 */
function marked(text: string, numbers: readonly Span[], mark: string): string {
  let result = "";
  let from = 0;
  for (const { start, end } of numbers) {
    result += `${text.slice(from, start)}["${mark}${text.slice(start, end)}"]`;
    from = end;
  }
  return result + text.slice(from);
}

/** Changes the value in place. @throws SyntaxError for a number that JSON does not have, as `01`. */
function unmark(value: unknown, mark: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list: unknown[] = value;
    const [first] = list;
    if (typeof first === "string" && first.startsWith(mark)) {
      return JSON.rawJSON(first.slice(mark.length));
    }
    for (const [index, element] of list.entries()) list[index] = unmark(element, mark);
    return list;
  }
  const object = value as Record<string, unknown>;
  // All of these are its own, `__proto__` too, so that no setter is called.
  for (const key of Object.keys(object)) object[key] = unmark(object[key], mark);
  return object;
}

export function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === "number" || JSON.isRawJSON(value);
}

/** The nearest JavaScript number. */
export function nearest(number: JsonNumber): number {
  return typeof number === "number" ? number : Number(number.rawJSON);
}

/** The number as JSON. */
export function textOfNumber(number: JsonNumber): string {
  return typeof number === "number" ? JSON.stringify(number) : number.rawJSON;
}

/** True for each text of an integer, as `1.0` and `1e400` (JSON Schema, validation, 6.1.1). */
export function isJsonInteger(value: unknown): value is JsonNumber {
  if (typeof value === "number") return Number.isInteger(value);
  const form = JSON.isRawJSON(value) ? normalForm(value.rawJSON) : undefined;
  return form !== undefined && !form.includes("e-");
}
