/** Allots each number once: the preferred one, or else the next free one. */

export class DistinctNumbers {
  readonly #size: bigint;
  /** Allotted number → the number to try next. */
  readonly #next = new Map<bigint, bigint>();

  /** @param size the numbers are 0 to `size` - 1; at most `size` of them may be taken. */
  constructor(size: bigint) {
    this.#size = size;
  }

  /** Takes a few steps on average, even if an attacker makes every caller prefer the same number. */
  take(preferred: bigint): bigint {
    const passed: bigint[] = [];
    let free = preferred % this.#size;
    for (let next = this.#next.get(free); next !== undefined; next = this.#next.get(free)) {
      passed.push(free);
      free = next;
    }
    const after = (free + 1n) % this.#size;
    // Path compression: later calls along the same path take fewer steps.
    for (const number of passed) this.#next.set(number, after);
    this.#next.set(free, after);
    return free;
  }
}
