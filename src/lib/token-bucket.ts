/** A rate limit: so many at once, and then one for every so many milliseconds. */

export class TokenBucket {
  readonly #capacity: number;
  readonly #refillMs: number;
  readonly #now: () => number;
  #tokens: number;
  #countedAt: number;

  /** @param perMinute also how many are let through at once after a quiet minute. */
  constructor(perMinute: number, now: () => number = () => Date.now()) {
    this.#capacity = perMinute;
    this.#refillMs = 60_000 / perMinute;
    this.#now = now;
    this.#tokens = perMinute;
    this.#countedAt = now();
  }

  /** How long it is until one is let through, as of the last time that somebody asked for it. */
  get waitMs(): number {
    return Math.max(0, (1 - this.#tokens) * this.#refillMs);
  }

  /** @returns `false` when it is too soon. */
  take(): boolean {
    const now = this.#now();
    // A clock may be set back: what it says then is nobody's debt.
    const refilled = this.#tokens + Math.max(0, now - this.#countedAt) / this.#refillMs;
    this.#tokens = Math.min(this.#capacity, refilled);
    this.#countedAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
