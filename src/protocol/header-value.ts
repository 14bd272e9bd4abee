/**
 * The sentinel encoding of mirrored header values (2026-07-28, Streamable HTTP, value encoding):
 * a value that an HTTP header cannot carry unchanged is sent as `=?base64?<base64 of UTF-8>?=`.
 */

const PREFIX = "=?base64?";
const SUFFIX = "?=";
// Visible ASCII with inner spaces and tabs: no hop may trim or refuse it.
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function isSentinel(value: string): boolean {
  return (
    value.length >= PREFIX.length + SUFFIX.length &&
    value.startsWith(PREFIX) &&
    value.endsWith(SUFFIX)
  );
}

/** A loop, because a regular expression for the end takes quadratic time on a hostile header. */
function trimWhitespace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhitespace(text.charCodeAt(start))) start += 1;
  while (end > start && isWhitespace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Encodes any string for a header; a plain value that is no sentinel stays unchanged. */
export function encodeHeaderValue(value: string): string {
  if (PLAIN.test(value) && !isSentinel(value)) return value;
  const bytes = new TextEncoder().encode(value);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return `${PREFIX}${btoa(binary)}${SUFFIX}`;
}

/**
 * Decodes a header value after trimming optional whitespace (RFC 9110, 5.5).
 *
 * @returns the string, or `undefined` for a well-formed sentinel whose base64 or UTF-8 is not
 *   valid. Any value that is not a whole sentinel is a literal: the markers are case-sensitive.
 */
export function decodeHeaderValue(raw: string): string | undefined {
  const value = trimWhitespace(raw);
  if (!isSentinel(value)) return value;
  const encoded = value.slice(PREFIX.length, -SUFFIX.length);
  if (!BASE64.test(encoded)) return undefined;
  const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // not UTF-8: as invalid as a wrong alphabet
  }
}
