/**
 * A cache with a bound and an expiry. It lives as long as its isolate and may drop entries at any time,
 * so correctness must not depend on a hit. It holds values, never promises: on Workers, a promise belongs
 * to the request that made it.
 */

interface Entry<V> {
  readonly value: V;
  readonly weight: number;
  readonly expiresAt: number;
}

export class BoundedCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #maxWeight: number;
  readonly #ttlMs: number;
  #weight = 0;

  /**
   * @param options.maxEntries the largest number of entries, or `maxWeight`, the largest sum of the weights
   *   that `set` is given.
   * @param options.ttlMs counts from `set`; by default, entries do not expire.
   */
  constructor(options: ({ maxEntries: number } | { maxWeight: number }) & { ttlMs?: number }) {
    this.#maxWeight = "maxWeight" in options ? options.maxWeight : options.maxEntries;
    this.#ttlMs = options.ttlMs ?? Infinity;
  }

  get(key: string): V | undefined {
    const found = this.#entries.get(key);
    return found !== undefined && found.expiresAt > Date.now() ? found.value : undefined;
  }

  /** Drops the entries that were set longest ago to make room. A value that is too heavy is not held. */
  set(key: string, value: V, weight = 1): void {
    this.delete(key);
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, { value, weight, expiresAt: Date.now() + this.#ttlMs });
    this.#weight += weight;
    // Maps keep insertion order, so the first key is the oldest.
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}
