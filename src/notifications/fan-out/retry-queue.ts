/**
 * The news that single sessions have not taken, because they could not be reached or were still busy
 * with earlier news. Each session has its own, so no other session waits for it. Delivery is tried
 * again at growing intervals, for an hour at most; after that, when there is other news for the
 * session, or when it subscribes.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import type { Sql } from "../../lib/sql.ts";
import type { News, Topic } from "../../catalog/feeds.ts";
import { SUBSCRIPTIONS_TABLE } from "./subscription-table.ts";

const LATE = "late_1";
const WAITING = "waiting_1";
const BACKOFF: Backoff = { firstMs: 1000, maxMs: 300_000 };
const MAX_BEHIND_MS = 3_600_000;

export class RetryQueue {
  readonly #sql: Sql;
  readonly #now: () => number;
  /** Sessions that have rows. It is mostly empty, and then no query is needed. */
  readonly #behind: Set<string>;

  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.exec(`CREATE TABLE IF NOT EXISTS ${LATE} (
      session TEXT NOT NULL, slug TEXT NOT NULL, topic TEXT NOT NULL, seq INTEGER NOT NULL,
      PRIMARY KEY (session, slug, topic)) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE IF NOT EXISTS ${WAITING} (
      session TEXT PRIMARY KEY, since INTEGER NOT NULL, tries INTEGER NOT NULL,
      at INTEGER NOT NULL) WITHOUT ROWID`);
    // The previous life of the branch was about to try these.
    sql.exec(`UPDATE ${WAITING} SET at = ? WHERE tries = 0`, now());
    const rows = sql.exec<{ session: string }>(
      `SELECT session FROM ${WAITING} UNION SELECT session FROM ${LATE}`,
    );
    this.#behind = new Set([...rows].map(({ session }) => session));
  }

  /** @returns whether the session must take news from this queue before any other. */
  has(session: string): boolean {
    return this.#behind.has(session);
  }

  /** Schedules a session whose delivery was given up. @returns whether it was given up. */
  revive(session: string): boolean {
    if (!this.has(session)) return false;
    const [revived] = this.#sql.exec(
      `INSERT OR IGNORE INTO ${WAITING} SELECT session, ?, 0, ? FROM ${LATE}
       WHERE session = ? LIMIT 1 RETURNING 1`,
      this.#now(),
      this.#now(),
      session,
    );
    return revived !== undefined;
  }

  /**
   * Queues those topics that the session still subscribes to.
   *
   * @param at the time of the next attempt, in milliseconds since 1970, unless one is scheduled already.
   */
  add(session: string, { slug, seq, topics }: News, at: number): void {
    let isAny = false;
    for (const topic of topics) {
      const [added] = this.#sql.exec(
        `INSERT INTO ${LATE} SELECT subscriber, slug, topic, ? FROM ${SUBSCRIPTIONS_TABLE}
         WHERE subscriber = ? AND slug = ? AND topic = ?
         ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq) RETURNING 1`,
        seq,
        session,
        slug,
        topic,
      );
      isAny ||= added !== undefined;
    }
    if (!isAny) return;
    this.#behind.add(session);
    this.#sql.exec(
      `INSERT OR IGNORE INTO ${WAITING} VALUES (?, ?, 0, ?)`,
      session,
      this.#now(),
      at,
    );
  }

  /** The next news for the session: news of a server is delivered in its order. */
  next(session: string): News | undefined {
    if (!this.has(session)) return undefined;
    const [first] = this.#sql.exec<{ slug: string; seq: number }>(
      `SELECT slug, seq FROM ${LATE} WHERE session = ? ORDER BY slug, seq LIMIT 1`,
      session,
    );
    if (first === undefined) {
      this.forget(session);
      return undefined;
    }
    const rows = this.#sql.exec<{ topic: Topic }>(
      `SELECT topic FROM ${LATE} WHERE session = ? AND slug = ? AND seq = ?`,
      session,
      first.slug,
      first.seq,
    );
    return { ...first, topics: [...rows].map(({ topic }) => topic) };
  }

  taken(session: string, { slug, seq }: News): void {
    this.#sql.exec(
      `DELETE FROM ${LATE} WHERE session = ? AND slug = ? AND seq = ?`,
      session,
      slug,
      seq,
    );
    const back = `UPDATE ${WAITING} SET since = ?, tries = 0 WHERE session = ?`;
    this.#sql.exec(back, this.#now(), session);
  }

  /** An attempt is under way: no other is due before this time. */
  trying(session: string, until: number): void {
    this.#sql.exec(`UPDATE ${WAITING} SET at = ? WHERE session = ?`, until, session);
  }

  /** The attempt failed. */
  failed(session: string): void {
    const [row] = this.#sql.exec<{ since: number; tries: number }>(
      `SELECT since, tries FROM ${WAITING} WHERE session = ?`,
      session,
    );
    if (row === undefined) return;
    const { since, tries } = row;
    const now = this.#now();
    if (now - since >= MAX_BEHIND_MS) {
      // The rows of its news stay, so that the session takes them before any other news.
      this.#sql.exec(`DELETE FROM ${WAITING} WHERE session = ?`, session);
      return;
    }
    this.#sql.exec(
      `UPDATE ${WAITING} SET tries = tries + 1, at = ? WHERE session = ?`,
      now + pauseMs(BACKOFF, tries),
      session,
    );
  }

  /** @returns up to `limit` sessions whose next attempt is due, in order. */
  ready(after: string, limit: number): readonly string[] {
    const rows = this.#sql.exec<{ session: string }>(
      `SELECT session FROM ${WAITING} WHERE at <= ? AND session > ? ORDER BY session LIMIT ?`,
      this.#now(),
      after,
      limit,
    );
    return [...rows].map(({ session }) => session);
  }

  /** @returns the time of the earliest attempt, in milliseconds since 1970. */
  soonest(): number | undefined {
    const [row] = this.#sql.exec<{ at: number | null }>(`SELECT min(at) AS at FROM ${WAITING}`);
    return row?.at ?? undefined;
  }

  /** The session has unsubscribed from the topic. */
  remove(session: string, slug: string, topic: Topic): void {
    if (!this.has(session)) return;
    this.#sql.exec(
      `DELETE FROM ${LATE} WHERE session = ? AND slug = ? AND topic = ?`,
      session,
      slug,
      topic,
    );
    const [left] = this.#sql.exec(`SELECT 1 FROM ${LATE} WHERE session = ? LIMIT 1`, session);
    if (left === undefined) this.forget(session);
  }

  forget(session: string): void {
    if (!this.#behind.delete(session)) return;
    this.#sql.exec(`DELETE FROM ${LATE} WHERE session = ?`, session);
    this.#sql.exec(`DELETE FROM ${WAITING} WHERE session = ?`, session);
  }
}
