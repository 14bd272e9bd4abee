/** Numbers that are given out once each: the one that is wanted, or else the next that is free. */

export class DistinctNumbers {
  readonly #size: bigint;
  /** Given out → where to look on. */
  readonly #next = new Map<bigint, bigint>();

  /** @param size the numbers are those from 0 to below this; no more may be taken than there are. */
  constructor(size: bigint) {
    this.#size = size;
  }

  /** Takes a few steps on average, also when somebody has made everybody want the same. */
  take(wanted: bigint): bigint {
    const passed: bigint[] = [];
    let free = wanted % this.#size;
    for (let next = this.#next.get(free); next !== undefined; next = this.#next.get(free)) {
      passed.push(free);
      free = next;
    }
    const after = (free + 1n) % this.#size;
    // Whoever comes by the same way again has it shorter.
    for (const number of passed) this.#next.set(number, after);
    this.#next.set(free, after);
    return free;
  }
}
