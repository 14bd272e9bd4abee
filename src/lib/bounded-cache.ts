/**
 * A cache with an expiry and a bound. It lives as long as its isolate and may drop entries at any time,
 * so correctness must not depend on a hit. It holds values, never promises: on Workers, a promise belongs
 * to the request that made it.
 */

interface Entry<V> {
  readonly value: V;
  readonly expiresAt: number;
}

export class BoundedCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #maxEntries: number;
  readonly #ttlMs: number;

  constructor(options: { maxEntries: number; ttlMs: number }) {
    this.#maxEntries = options.maxEntries;
    this.#ttlMs = options.ttlMs;
  }

  get(key: string): V | undefined {
    const found = this.#entries.get(key);
    return found !== undefined && found.expiresAt > Date.now() ? found.value : undefined;
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAt: Date.now() + this.#ttlMs });
    if (this.#entries.size <= this.#maxEntries) return;
    // Maps keep insertion order, so the first key is the oldest.
    const oldest = this.#entries.keys().next();
    if (oldest.done !== true) this.#entries.delete(oldest.value);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
