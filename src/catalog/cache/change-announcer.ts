/**
 * Announces changes that only the gateway has noticed: at once, and then not again for a while. If
 * a server lists something else at each request, its clients would otherwise list all the time.
 */

import type { ListTopic } from "../topics.ts";

const PAUSE_MS = 5000;

export class ChangeAnnouncer {
  readonly #announce: (topics: readonly ListTopic[]) => void;
  readonly #now: () => number;
  readonly #waiting = new Set<ListTopic>();
  #announcedAt = -Infinity;

  constructor(announce: (topics: readonly ListTopic[]) => void, now: () => number) {
    this.#announce = announce;
    this.#now = now;
  }

  /** The time when waiting topics are due; `undefined` when none wait. */
  get dueAt(): number | undefined {
    return this.#waiting.size === 0 ? undefined : this.#announcedAt + PAUSE_MS;
  }

  announce(topics: Iterable<ListTopic>): void {
    for (const topic of topics) this.#waiting.add(topic);
    this.flush();
  }

  /** Announces the waiting topics if they are due. */
  flush(): void {
    const now = this.#now();
    // A clock that was set back delays no announcement.
    const isEarly = now >= this.#announcedAt && now < this.#announcedAt + PAUSE_MS;
    if (this.#waiting.size === 0 || isEarly) return;
    const topics = [...this.#waiting];
    this.#waiting.clear();
    this.#announcedAt = now;
    this.#announce(topics);
  }
}
