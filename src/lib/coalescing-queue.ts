/** Sends items one after the other, as fast as the reader takes them; an item that waits is queued once. */

export class CoalescingQueue<T> {
  readonly #send: (item: T) => Promise<void>;
  readonly #waiting = new Set<T>();
  #isSending = false;

  /** @param send resolves when there is room for more, and rejects when the reader has gone. */
  constructor(send: (item: T) => Promise<void>) {
    this.#send = send;
  }

  add(item: T): void {
    this.#waiting.add(item);
    // A failed send ends the queue: the reader has gone.
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
