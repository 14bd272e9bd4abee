/**
 * The bytes that a catalog may still take. All lists of a server share them, since the whole catalog
 * travels between objects in one piece.
 */

/** Of an entry: the members' names and lengths, as a structured clone writes them. */
const ENTRY_BYTES = 32;
// oxlint-disable-next-line eslint/no-control-regex -- what fits into one byte, all of it
const WIDE = /[^\u0000-\u00ff]/;

/** Bytes that a text takes in memory and between objects, at the most. */
export function weightOf(text: string): number {
  return WIDE.test(text) ? text.length * 2 : text.length;
}

export function entryWeight(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + weightOf(text), ENTRY_BYTES);
}

export class Room {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  /** Gives back what was taken since there were so many bytes left. */
  restore(left: number): void {
    this.#left = left;
  }

  /** @returns `false` when there is none for all of it; then nothing is taken. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}
