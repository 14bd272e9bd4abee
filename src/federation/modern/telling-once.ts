/** Tells a reader of one thing after the other, as it can take them; what comes again meanwhile is told once. */

import type { Topic } from "../feed/feeds.ts";

export class TellingOnce {
  readonly #tell: (topic: Topic) => Promise<void>;
  readonly #waiting = new Set<Topic>();
  #isTelling = false;

  /** @param tell resolves when there is room for more, and rejects when the reader has gone. */
  constructor(tell: (topic: Topic) => Promise<void>) {
    this.#tell = tell;
  }

  add(topic: Topic): void {
    this.#waiting.add(topic);
    // Who has gone is told nothing any more.
    if (!this.#isTelling) this.#run().catch(() => undefined);
  }

  async #run(): Promise<void> {
    this.#isTelling = true;
    for (const topic of this.#waiting) {
      this.#waiting.delete(topic);
      await this.#tell(topic);
    }
    this.#isTelling = false;
  }
}
