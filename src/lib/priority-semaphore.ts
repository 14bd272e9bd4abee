/** Limits the concurrent reads of one server's catalogs: each holds a large part of a catalog in memory. */

const AT_ONCE = 2;

interface Waiting {
  readonly isKnown: boolean;
  readonly go: () => void;
}

export class PrioritySemaphore {
  #running = 0;
  /** In the order of arrival. */
  readonly #waiting: Waiting[] = [];

  /**
   * Takes a permit; `done` gives it back.
   *
   * @param isKnown a catalog exists already: its reads go before those that a client may have made up.
   * @returns when the permit is granted; `undefined` when it is granted at once.
   */
  take(isKnown: boolean): Promise<void> | undefined {
    if (this.#running < AT_ONCE) {
      this.#running += 1;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ isKnown, go: resolve });
    return promise;
  }

  done(): void {
    this.#running -= 1;
    const known = this.#waiting.findIndex(({ isKnown }) => isKnown);
    const [next] = this.#waiting.splice(Math.max(0, known), 1);
    if (next === undefined) return;
    this.#running += 1;
    next.go();
  }
}
