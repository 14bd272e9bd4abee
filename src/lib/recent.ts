/** The last few keys, to recognize repetitions within a short time. */

export class Recent {
  readonly #keys = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  clear(): void {
    this.#keys.clear();
  }

  /** @returns `false` for a repeated key. */
  add(key: string): boolean {
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    if (this.#keys.size > this.#max) {
      // Sets keep insertion order, so the first key is the oldest.
      const oldest = this.#keys.values().next();
      if (oldest.done !== true) this.#keys.delete(oldest.value);
    }
    return true;
  }
}
