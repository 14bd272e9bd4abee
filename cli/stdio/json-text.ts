/**
 * Parts of a JSON text, as they were written: an id must come back with every digit, and Node 20 cannot keep
 * the text of a number that it parses.
 */

import { endOfString } from "../../src/lib/scan-json.ts";

/**
 * @param text valid JSON of an array or an object.
 * @returns the elements of the array, or the members of the object with their names.
 */
export function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === '"') index = endOfString(text, index);
    else if (char === "{" || char === "[") {
      depth += 1;
      if (depth === 1) start = index + 1;
    } else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) parts.push(text.slice(start, index).trim());
    } else if (char === "," && depth === 1) {
      parts.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  return parts.filter((part) => part !== "");
}

/**
 * @param text valid JSON of an object.
 * @returns the value of the last member of that name, which is the one that `JSON.parse` takes.
 */
export function memberText(text: string, name: string): string | undefined {
  let found: string | undefined;
  for (const part of partsOf(text)) {
    const end = endOfString(part, 0);
    if (JSON.parse(part.slice(0, end + 1)) !== name) continue;
    found = part.slice(part.indexOf(":", end) + 1).trim();
  }
  return found;
}

/**
 * Puts another value in the place of a member that is there, and leaves all else as it was written.
 *
 * @param text valid JSON of an object.
 * @param path names of members, from the outermost object inwards.
 * @param value JSON.
 */
export function withMember(
  text: string,
  [name, ...inner]: readonly string[],
  value: string,
): string {
  const parts = partsOf(text).map((part) => {
    const end = endOfString(part, 0);
    if (JSON.parse(part.slice(0, end + 1)) !== name) return part;
    const start = part.indexOf(":", end) + 1;
    const old = part.slice(start).trim();
    const isDeeper = inner.length > 0 && old.startsWith("{");
    const put = isDeeper ? withMember(old, inner, value) : inner.length === 0 ? value : old;
    return part.slice(0, start) + put;
  });
  return `{${parts.join(",")}}`;
}

/** JSON has line breaks only between its tokens, so that each may be a space. */
export function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+/g, " ") : text;
}
