/** One after the other, for each key: what was begun first is over before the next begins. */

export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** @returns what the work does, however the work before it ended. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#last.set(key, turn);
    const leave = (): void => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    turn.then(leave, leave);
    return turn;
  }
}
