/** Tells a reader of one thing after the other, as it can take them; what comes again meanwhile is told once. */

export class CoalescingQueue<T> {
  readonly #send: (item: T) => Promise<void>;
  readonly #waiting = new Set<T>();
  #isSending = false;

  /** @param tell resolves when there is room for more, and rejects when the reader has gone. */
  constructor(send: (item: T) => Promise<void>) {
    this.#send = send;
  }

  add(item: T): void {
    this.#waiting.add(item);
    // Who has gone is told nothing any more.
    if (!this.#isSending) this.#run().catch(() => undefined);
  }

  async #run(): Promise<void> {
    this.#isSending = true;
    for (const item of this.#waiting) {
      this.#waiting.delete(item);
      await this.#send(item);
    }
    this.#isSending = false;
  }
}
