/**
 * Blocks of a document that are made from the code or from a run. Comments around a block say where it
 * comes from: `<!-- limits: from src/policy/limits.ts -->` and `<!-- end of limits -->`. Pure.
 */

/**
 * @param made the new content of the block, as Markdown
 * @returns the document with that content in the block of that name
 * @throws Error if the document has no such block
 */
export function withBlock(text: string, name: string, made: string): string {
  const { start, end } = placeOf(text, name);
  return `${text.slice(0, start)}\n${made.trimEnd()}\n\n${text.slice(end)}`;
}

/**
 * @returns what is in the block of that name
 * @throws Error if the document has no such block
 */
export function blockOf(text: string, name: string): string {
  const { start, end } = placeOf(text, name);
  return text.slice(start, end);
}

function placeOf(text: string, name: string): { readonly start: number; readonly end: number } {
  const begin = new RegExp(`<!-- ${name}: from .* -->\n`).exec(text);
  const start = begin === null ? -1 : begin.index + begin[0].length;
  const end = text.indexOf(`<!-- end of ${name} -->`, start);
  if (start === -1 || end === -1) throw new Error(`The document has no block "${name}"`);
  return { start, end };
}
