/** The last few keys, to recognize repetitions within a short time. */

import { dropOldest } from "./drop-oldest.ts";

export class Recent<K extends string | bigint = string> {
  readonly #keys = new Set<K>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  clear(): void {
    this.#keys.clear();
  }

  /** @returns `false` for a repeated key. */
  add(key: K): boolean {
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    dropOldest(this.#keys, this.#max);
    return true;
  }
}
