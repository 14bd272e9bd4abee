/**
 * Measures the depth and size of a JSON text without parsing it. The result is meaningless for text that
 * is not JSON.
 */

interface JsonShape {
  readonly depth: number;
  /** No fewer than there are: each follows a bracket or a comma. An empty list counts as having one. */
  readonly values: number;
}

/** @param enough counting stops beyond this depth. */
export function jsonDepth(text: string, enough: number): number {
  return jsonShape(text, { depth: enough, values: Infinity }).depth;
}

/** @param enough counting stops beyond any of these. */
export function jsonShape(text: string, enough: JsonShape): JsonShape {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    if (deepest > enough.depth || values > enough.values) break;
    const char = text.charCodeAt(index);
    if (isInString) {
      if (char === BACKSLASH) index += 1;
      else if (char === QUOTE) isInString = false;
    } else if (char === QUOTE) isInString = true;
    else if (char === COMMA) values += 1;
    else if (char === BRACE_OPEN || char === BRACKET_OPEN) {
      deepest = Math.max(deepest, ++depth);
      values += 1;
    } else if (char === BRACE_CLOSE || char === BRACKET_CLOSE) depth -= 1;
  }
  return { depth: deepest, values };
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
