/** Measures time without the pauses in it, which may overlap. */
export class Stopwatch {
  readonly #now: () => number;
  readonly #startedAt: number;
  #pauses = 0;
  #pausedAt = 0;
  #pausedMs = 0;

  constructor(now = (): number => Date.now()) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** @returns ends the pause; called once. */
  pause(): () => void {
    if (++this.#pauses === 1) this.#pausedAt = this.#now();
    return () => {
      if (--this.#pauses === 0) this.#pausedMs += this.#now() - this.#pausedAt;
    };
  }

  get ms(): number {
    const until = this.#pauses === 0 ? this.#now() : this.#pausedAt;
    return until - this.#startedAt - this.#pausedMs;
  }
}
