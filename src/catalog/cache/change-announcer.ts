/**
 * Announces changes that only the gateway has noticed: at once, and then not again for a while. If
 * a server lists something else at each request, its clients would otherwise list all the time. A list is stored until
 * every branch has its announcement: the next life of the holding object announces it again.
 */

import type { Sql } from "../../lib/sql.ts";
import type { ListTopic } from "../topics.ts";
import { ReportedLists } from "./reported-lists.ts";

const PAUSE_MS = 5000;
/** An object that ends before every branch has the announcement is woken after this. */
const WATCHDOG_MS = 30_000;
const UNSENT = "unsent_lists_1";

export interface ChangeAnnouncerParts {
  readonly announce: (topics: readonly ListTopic[]) => void;
  readonly now: () => number;
  readonly sql: Sql;
}

export class ChangeAnnouncer {
  readonly reported: ReportedLists;
  readonly #parts: ChangeAnnouncerParts;
  readonly #unsent: Set<ListTopic>;
  readonly #waiting: Set<ListTopic>;
  #announcedAt = 0;

  constructor(parts: ChangeAnnouncerParts) {
    this.#parts = parts;
    this.reported = new ReportedLists(parts.sql, parts.now);
    parts.sql.exec(`CREATE TABLE IF NOT EXISTS ${UNSENT} (topic TEXT PRIMARY KEY) WITHOUT ROWID`);
    const rows = parts.sql.exec<{ topic: ListTopic }>(`SELECT topic FROM ${UNSENT}`);
    this.#unsent = new Set(Array.from(rows, ({ topic }) => topic));
    this.#waiting = new Set(this.#unsent);
  }

  /** The time when a topic is due, or when the object is to be there again; `undefined` when all are sent. */
  get dueAt(): number | undefined {
    const at = Math.min(this.#sentAt, this.reported.dueAt ?? Infinity);
    return at === Infinity ? undefined : at;
  }

  get #sentAt(): number {
    if (this.#waiting.size > 0) return this.#announcedAt + PAUSE_MS;
    return this.#unsent.size === 0 ? Infinity : this.#parts.now() + WATCHDOG_MS;
  }

  /** To be called in the turn in which the changed lists are stored: both are kept, or neither. */
  announce(topics: readonly ListTopic[]): void {
    this.reported.told(topics);
    for (const topic of topics) {
      this.#waiting.add(topic);
      if (this.#unsent.has(topic)) continue;
      this.#unsent.add(topic);
      this.#parts.sql.exec(`INSERT INTO ${UNSENT} (topic) VALUES (?)`, topic);
    }
    this.flush();
  }

  /** Announces the waiting topics if they are due. */
  flush(): void {
    const now = this.#parts.now();
    // A clock that was set back delays no announcement.
    const isEarly = now >= this.#announcedAt && now < this.#announcedAt + PAUSE_MS;
    if (this.#waiting.size === 0 || isEarly) return;
    const topics = [...this.#waiting];
    this.#waiting.clear();
    this.#announcedAt = now;
    this.#parts.announce(topics);
  }

  /** Every branch has what was announced. */
  sent(): void {
    for (const topic of this.#unsent) {
      if (this.#waiting.has(topic)) continue;
      this.#unsent.delete(topic);
      this.#parts.sql.exec(`DELETE FROM ${UNSENT} WHERE topic = ?`, topic);
    }
  }
}
