/** Splits long texts for a database that bounds its values. */

/** A row may have 2 MB; a character takes at most three bytes. */
const MAX_ROW_CHARS = 512 * 1024;

/** Splits a text into parts that fit a row, never within a surrogate pair. */
export function cutIntoRows(data: string): string[] {
  if (data.length <= MAX_ROW_CHARS) return [data];
  const parts: string[] = [];
  for (let start = 0; start < data.length;) {
    let end = Math.min(start + MAX_ROW_CHARS, data.length);
    if (end < data.length && isHighSurrogate(data.charCodeAt(end - 1))) end -= 1;
    parts.push(data.slice(start, end));
    start = end;
  }
  return parts;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
