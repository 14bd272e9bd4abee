/** Runs work one after the other for each key, in the order of the calls. */

export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** @returns the result of the work; a failure of earlier work has no effect. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    this.#last.set(key, result);
    const release = (): void => {
      if (this.#last.get(key) === result) this.#last.delete(key);
    };
    result.then(release, release);
    return result;
  }
}
