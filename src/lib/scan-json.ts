/**
 * Measures the depth and size of a JSON text without parsing it, and finds the numbers that a JavaScript
 * number cannot hold as they are written. The result is meaningless for text that is not JSON.
 */

interface JsonSize {
  readonly depth: number;
  /** No fewer than there are: each follows a bracket or a comma. An empty list counts as having one. */
  readonly values: number;
}

/** A part of the text, as the arguments of `slice`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface JsonScan extends JsonSize {
  /** The numbers that `JSON.parse` and `JSON.stringify` would change, in their order. */
  readonly inexact: readonly Span[];
}

/** @param enough the scan stops beyond any of these. */
export function scanJson(text: string, enough: Partial<JsonSize> = {}): JsonScan {
  const { depth: enoughDepth = Infinity, values: enoughValues = Infinity } = enough;
  const inexact: Span[] = [];
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let index = 0; index < text.length; index++) {
    if (deepest > enoughDepth || values > enoughValues) break;
    const char = text.charCodeAt(index);
    if (char === QUOTE) index = endOfString(text, index);
    else if (char === COMMA) values += 1;
    else if (char === BRACE_OPEN || char === BRACKET_OPEN) {
      deepest = Math.max(deepest, ++depth);
      values += 1;
    } else if (char === BRACE_CLOSE || char === BRACKET_CLOSE) depth -= 1;
    else if (char === MINUS || isDigit(char)) {
      const end = endOfNumber(text, index);
      if (!isExact(text, index, end)) inexact.push({ start: index, end });
      index = end - 1;
    }
  }
  return { depth: deepest, values, inexact };
}

/**
 * Searching for the next quote takes half the time of a look at each character of a common message, and a
 * hundredth in one with an image.
 *
 * @returns the index of the closing quote, or the end of the text.
 */
export function endOfString(text: string, start: number): number {
  for (let quote = start; ;) {
    quote = text.indexOf('"', quote + 1);
    if (quote === -1) return text.length;
    let first = quote;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    const isEscaped = (quote - first) % 2 === 1;
    if (!isEscaped) return quote;
  }
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (isOfNumber(text.charCodeAt(end))) end += 1;
  return end;
}

/** Every integer of this many digits is a JavaScript number, which is written with the same digits. */
const EXACT_DIGITS = 15;

function isExact(text: string, start: number, end: number): boolean {
  if (end - start <= EXACT_DIGITS && areDigits(text, start, end)) return true;
  const number = text.slice(start, end);
  return String(Number(number)) === number;
}

function areDigits(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    if (!isDigit(text.charCodeAt(index))) return false;
  }
  return true;
}

function isDigit(char: number): boolean {
  return char >= ZERO && char <= NINE;
}

function isOfNumber(char: number): boolean {
  return (
    isDigit(char) ||
    char === POINT ||
    char === PLUS ||
    char === MINUS ||
    char === SMALL_E ||
    char === LARGE_E
  );
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const ZERO = 0x30;
const NINE = 0x39;
const POINT = 0x2e;
const PLUS = 0x2b;
const MINUS = 0x2d;
const SMALL_E = 0x65;
const LARGE_E = 0x45;
