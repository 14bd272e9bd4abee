/** Measures a value as JSON in UTF-8 without serializing it. */

/** @returns the bytes of the `JSON.stringify` text. Values that JSON does not have count nothing. */
export function jsonBytes(value: unknown): number {
  switch (typeof value) {
    case "string":
      return stringBytes(value);
    case "number":
      return Number.isFinite(value) ? String(value).length : NULL_BYTES;
    case "boolean":
      return value ? 4 : 5;
    case "object":
      if (value === null) return NULL_BYTES;
      if (JSON.isRawJSON(value)) return value.rawJSON.length;
      return Array.isArray(value) ? arrayBytes(value) : objectBytes(value);
    default:
      return 0;
  }
}

const NULL_BYTES = 4;

function arrayBytes(values: readonly unknown[]): number {
  let bytes = BRACKETS + Math.max(0, values.length - 1);
  for (const value of values) bytes += jsonBytes(value);
  return bytes;
}

function objectBytes(value: object): number {
  let bytes = BRACKETS;
  let count = 0;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    bytes += stringBytes(name) + COLON + jsonBytes(member);
    count += 1;
  }
  return bytes + Math.max(0, count - 1);
}

const BRACKETS = 2;
const COLON = 1;

function stringBytes(text: string): number {
  let bytes = text.length + 2;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) {
      if (code === 0x22 || code === 0x5c) bytes += 1;
      else if (code < 0x20) bytes += SHORT_ESCAPES.has(code) ? 1 : 5;
    } else if (code < 0x800) bytes += 1;
    else if (code < 0xd800 || code > 0xdfff) bytes += 2;
    else if (code < 0xdc00 && isLow(text.charCodeAt(index + 1))) {
      // Two units make four bytes.
      bytes += 2;
      index += 1;
    } else bytes += 5; // half a character is written as an escape
  }
  return bytes;
}

/** Backspace, tab, line feed, form feed, carriage return. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
