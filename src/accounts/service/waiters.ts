/** Callers that wait until an account can be used, in this life of the object. */

const MAX_WAITERS = 1000;

export class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();
  #count = 0;

  /** @returns whether it came true within the time. */
  async wait(slug: string, ms: number, isTrue: () => boolean): Promise<boolean> {
    if (isTrue()) return true;
    if (ms <= 0 || this.#count >= MAX_WAITERS) return false;
    const waiting = this.#waiting.get(slug) ?? new Set();
    this.#waiting.set(slug, waiting);
    let timer: number | null = null;
    let wake: (() => void) | undefined;
    this.#count += 1;
    try {
      await new Promise<void>((resolve) => {
        wake = resolve;
        waiting.add(resolve);
        timer = setTimeout(resolve, ms);
      });
    } finally {
      this.#count -= 1;
      clearTimeout(timer);
      if (wake !== undefined) waiting.delete(wake);
      if (waiting.size === 0) this.#waiting.delete(slug);
    }
    return isTrue();
  }

  wake(slug: string): void {
    for (const wake of this.#waiting.get(slug) ?? []) wake();
  }
}
