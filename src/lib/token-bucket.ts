/** Rate limits: token buckets that start full and are refilled at a constant rate. */

import { dropOldest } from "./drop-oldest.ts";

export class TokenBucket {
  readonly #capacity: number;
  readonly #refillMs: number;
  readonly #now: () => number;
  #tokens: number;
  #wasRefused = false;
  #countedAt: number;

  /** @param perMinute the rate, and also the largest burst. */
  constructor(perMinute: number, now: () => number = () => Date.now()) {
    this.#capacity = perMinute;
    this.#refillMs = 60_000 / perMinute;
    this.#now = now;
    this.#tokens = perMinute;
    this.#countedAt = now();
  }

  /** Milliseconds until the next token, as of the last `take`. */
  get waitMs(): number {
    return Math.max(0, (1 - this.#tokens) * this.#refillMs);
  }

  /** True when the last `take` got no token. */
  get wasRefused(): boolean {
    return this.#wasRefused;
  }

  /** @returns `false` when there is no token. */
  take(): boolean {
    const now = this.#now();
    // A clock may be set back: negative time takes no tokens away.
    const refilled = this.#tokens + Math.max(0, now - this.#countedAt) / this.#refillMs;
    this.#tokens = Math.min(this.#capacity, refilled);
    this.#countedAt = now;
    this.#wasRefused = this.#tokens < 1;
    if (!this.#wasRefused) this.#tokens -= 1;
    return !this.#wasRefused;
  }
}

/**
 * The buckets of many keys. Beyond their number, the key that was used least recently is forgotten:
 * its bucket is mostly full by then.
 */
export class TokenBuckets {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #most: number;
  readonly #now: () => number;

  constructor(most: number, now: () => number = () => Date.now()) {
    this.#most = most;
    this.#now = now;
  }

  of(key: string, perMinute: number): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(perMinute, this.#now);
    // The oldest is then the one that was used least recently.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    dropOldest(this.#buckets, this.#most);
    return bucket;
  }
}
