/**
 * Any number of waits with a time-out, and one timer for all of them: the platform allows an object ten
 * thousand timers. In return, a time-out comes up to one tick late. No timer runs while there is no wait.
 */

interface Wait {
  readonly until: number;
  readonly giveUp: () => void;
}

export class Deadlines {
  readonly #tickMs: number;
  readonly #waits = new Set<Wait>();
  #timer: number | null = null;

  constructor(tickMs = 250) {
    this.#tickMs = tickMs;
  }

  /** @returns `undefined` when the time is over first; the promise continues, and its result is ignored. */
  within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const wait: Wait = { until: Date.now() + ms, giveUp: () => resolve(undefined) };
      this.#waits.add(wait);
      this.#timer ??= setTimeout(() => this.#tick(), this.#tickMs);
      promise.then(
        (value) => {
          this.#over(wait);
          resolve(value);
        },
        (error: unknown) => {
          this.#over(wait);
          reject(error instanceof Error ? error : new Error("It failed", { cause: error }));
        },
      );
    });
  }

  #over(wait: Wait): void {
    this.#waits.delete(wait);
    if (this.#waits.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    const now = Date.now();
    for (const wait of this.#waits) {
      if (wait.until > now) continue;
      this.#waits.delete(wait);
      wait.giveUp();
    }
    this.#timer = this.#waits.size === 0 ? null : setTimeout(() => this.#tick(), this.#tickMs);
  }
}
