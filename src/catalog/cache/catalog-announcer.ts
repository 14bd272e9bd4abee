/**
 * Tells of changes that nobody but the gateway has seen: at once, and then not again for a while. A
 * server that lists something else each time it is asked would have all its clients ask all the time.
 */

import type { ListTopic } from "../topics.ts";

const PAUSE_MS = 5000;

export class CatalogAnnouncer {
  readonly #announce: (topics: readonly ListTopic[]) => void;
  readonly #now: () => number;
  readonly #waiting = new Set<ListTopic>();
  #toldAt = -Infinity;

  constructor(announce: (topics: readonly ListTopic[]) => void, now: () => number) {
    this.#announce = announce;
    this.#now = now;
  }

  /** When there is something to be told that has to wait. */
  get dueAt(): number | undefined {
    return this.#waiting.size === 0 ? undefined : this.#toldAt + PAUSE_MS;
  }

  announce(topics: Iterable<ListTopic>): void {
    for (const topic of topics) this.#waiting.add(topic);
    this.flush();
  }

  /** Tells what is due. */
  flush(): void {
    const now = this.#now();
    // A clock that was set back holds nothing up.
    const isEarly = now >= this.#toldAt && now < this.#toldAt + PAUSE_MS;
    if (this.#waiting.size === 0 || isEarly) return;
    const topics = [...this.#waiting];
    this.#waiting.clear();
    this.#toldAt = now;
    this.#announce(topics);
  }
}
