/** How deep a JSON text nests, found without building it. Text that is not JSON gives any number. */

/** @param enough counting stops beyond this depth. */
export function jsonDepth(text: string, enough: number): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let index = 0; index < text.length && deepest <= enough; index++) {
    const char = text.charCodeAt(index);
    if (isInString) {
      if (char === BACKSLASH) index += 1;
      else if (char === QUOTE) isInString = false;
    } else if (char === QUOTE) isInString = true;
    else if (char === BRACE_OPEN || char === BRACKET_OPEN) deepest = Math.max(deepest, ++depth);
    else if (char === BRACE_CLOSE || char === BRACKET_CLOSE) depth -= 1;
  }
  return deepest;
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
