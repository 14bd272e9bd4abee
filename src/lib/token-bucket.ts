/** A rate limit: a token bucket that starts full and is refilled at a constant rate. */

export class TokenBucket {
  readonly #capacity: number;
  readonly #refillMs: number;
  readonly #now: () => number;
  #tokens: number;
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

  /** @returns `false` when there is no token. */
  take(): boolean {
    const now = this.#now();
    // A clock may be set back: negative time takes no tokens away.
    const refilled = this.#tokens + Math.max(0, now - this.#countedAt) / this.#refillMs;
    this.#tokens = Math.min(this.#capacity, refilled);
    this.#countedAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
