/**
 * Lists whose change the server has reported in the session of one client alone, and that no reading will find: nothing
 * is known of the list here, or all were told of a change before and nobody has asked the gateway for it since. Clients
 * that list at the server itself may have read it. So all are told after a pause, unless they hear of the list by then.
 * It is stored, since the life that was to tell them may be lost.
 */

import type { Sql } from "../../lib/sql.ts";
import type { ListTopic } from "../topics.ts";
import { MISSED_PAUSE_MS } from "./catalog-entry.ts";

const REPORTED = "reported_lists_1";
/** A server that announces each change to everybody has just done so. The report is of the same change then. */
const SAME_CHANGE_MS = 1000;

export class ReportedLists {
  readonly #sql: Sql;
  readonly #now: () => number;
  /** When each was first reported, in milliseconds since 1970. */
  readonly #reportedAt: Map<ListTopic, number>;

  /** When all were last told of each, in this life. */
  readonly #toldAt = new Map<ListTopic, number>();

  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ${REPORTED} (topic TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID`,
    );
    const rows = sql.exec<{ topic: ListTopic; at: number }>(`SELECT topic, at FROM ${REPORTED}`);
    this.#reportedAt = new Map(Array.from(rows, ({ topic, at }) => [topic, at]));
  }

  /** The time when the first of them is due; `undefined` when there is none. */
  get dueAt(): number | undefined {
    if (this.#reportedAt.size === 0) return undefined;
    return Math.min(...this.#reportedAt.values()) + MISSED_PAUSE_MS;
  }

  add(lists: Iterable<ListTopic>): void {
    const at = this.#now();
    for (const list of lists) {
      const passedMs = at - (this.#toldAt.get(list) ?? -Infinity);
      const isSame = passedMs >= 0 && passedMs < SAME_CHANGE_MS;
      if (isSame || this.#reportedAt.has(list)) continue;
      this.#reportedAt.set(list, at);
      this.#sql.exec(`INSERT INTO ${REPORTED} (topic, at) VALUES (?, ?)`, list, at);
    }
  }

  /** All are told that these have changed. */
  told(lists: Iterable<ListTopic>): void {
    for (const list of lists) {
      this.#toldAt.set(list, this.#now());
      if (!this.#reportedAt.delete(list)) continue;
      this.#sql.exec(`DELETE FROM ${REPORTED} WHERE topic = ?`, list);
    }
  }

  /** @returns those of which all are to be told now. A clock that was set back delays nobody for long. */
  due(): readonly ListTopic[] {
    const now = this.#now();
    return [...this.#reportedAt].flatMap(([list, at]) =>
      now >= at + MISSED_PAUSE_MS || now < at ? [list] : [],
    );
  }
}
