/**
 * The bytes that a catalog may still take. All lists of a server share them, since the whole catalog
 * travels between objects in one piece.
 */

/** The members' names and lengths of an entry, as a structured clone writes them. */
const ENTRY_BYTES = 32;
// oxlint-disable-next-line eslint/no-control-regex -- the whole range that fits into one byte
const WIDE = /[^\u0000-\u00ff]/;

/** The largest number of bytes that a text takes in memory and between objects. */
export function weightOf(text: string): number {
  return WIDE.test(text) ? text.length * 2 : text.length;
}

export function entryWeight(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + weightOf(text), ENTRY_BYTES);
}

export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  /** Gives back everything that was taken since there were `left` bytes. */
  restore(left: number): void {
    this.#left = left;
  }

  /** @returns `false` when there are not enough bytes left; then none are taken. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}
