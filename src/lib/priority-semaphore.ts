/** How many readings of one server are under way at once: each holds a large part of a catalog. */

const AT_ONCE = 2;

interface Waiting {
  readonly isKnown: boolean;
  readonly go: () => void;
}

export class PrioritySemaphore {
  #running = 0;
  /** In the order of their coming. */
  readonly #waiting: Waiting[] = [];

  /**
   * Each turn ends with `done`.
   *
   * @param isKnown there is a catalog already: it goes before all that somebody may have made up.
   * @returns when the turn has come; `undefined` when that is now.
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
