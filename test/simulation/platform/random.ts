/** A seeded generator of choices (sfc32): the same seed gives the same choices on every machine. */

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  /** @param seed any whole number; neighbours give unrelated sequences. */
  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = (seed / 2 ** 32) | 0;
    this.#c = 0x9e3779b9 | 0;
    for (let round = 0; round < 15; round += 1) this.bits();
  }

  /** @returns 32 random bits, as a number from 0 to 2^32 - 1. */
  bits(): number {
    const sum = (this.#a + this.#b + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + sum) | 0;
    return sum >>> 0;
  }

  /** @returns a number from 0 up to, and without, 1. */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  /** @returns a whole number from 0 to `bound` - 1. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  /** @param probability from 0 to 1. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("Nothing to pick from");
    return item;
  }
}
