/**
 * The news that single sessions have not taken, because they could not be reached or were still busy
 * with earlier news: the rows of their outbox. Delivery is tried again at growing intervals, for an hour
 * at most; after that, when there is other news for the session, or when it subscribes.
 *
 * News that a session is offered for the first time is on record for all sessions together
 * (`accepted-news.ts`). It gets rows of its own only when the session does not take it.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import type { OutboxRows } from "../../lib/outbox.ts";
import type { Sql } from "../../lib/sql.ts";
import type { News, Topic } from "../../catalog/feeds.ts";
import { SUBSCRIPTIONS_TABLE } from "./subscription-table.ts";

const LATE = "late_1";
const WAITING = "waiting_1";
const BACKOFF: Backoff = { firstMs: 1000, maxMs: 300_000 };
const MAX_BEHIND_MS = 3_600_000;
const PAGE = 100;
/** The longest time a session may need to take news. */
export const DELIVERY_MS = 10_000;
/** A session that is being called is not due again within this. */
const ATTEMPT_MS = 2 * DELIVERY_MS;

/** News that a session is offered for the first time. */
interface Offer {
  readonly news: News;
  readonly onSettled: () => void;
}

export class LateNews implements OutboxRows<string, News> {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #offers = new Map<string, Offer>();
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

  /** @param onSettled called when the session has taken the news, or when it was put into the rows. */
  offer(session: string, news: News, onSettled: () => void): void {
    this.#offers.set(session, { news, onSettled });
  }

  /**
   * Queues those topics that the session still subscribes to.
   *
   * @param at the time of the next attempt, in milliseconds since 1970, unless one is scheduled already.
   */
  append(session: string, { slug, seq, topics }: News, at: number): void {
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
    const offer = this.#offers.get(session);
    if (offer !== undefined) return offer.news;
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

  acknowledged(session: string, { slug, seq }: News): void {
    const offer = this.#offers.get(session);
    if (offer !== undefined) {
      this.#offers.delete(session);
      offer.onSettled();
      return;
    }
    this.#sql.exec(
      `DELETE FROM ${LATE} WHERE session = ? AND slug = ? AND seq = ?`,
      session,
      slug,
      seq,
    );
    const back = `UPDATE ${WAITING} SET since = ?, tries = 0 WHERE session = ?`;
    this.#sql.exec(back, this.#now(), session);
  }

  trying(session: string): void {
    if (!this.has(session)) return;
    const until = this.#now() + ATTEMPT_MS;
    this.#sql.exec(`UPDATE ${WAITING} SET at = ? WHERE session = ?`, until, session);
  }

  failed(session: string): void {
    const offer = this.#offers.get(session);
    const now = this.#now();
    if (offer !== undefined) {
      this.#offers.delete(session);
      this.append(session, offer.news, now);
      offer.onSettled();
    }
    const [row] = this.#sql.exec<{ since: number; tries: number }>(
      `SELECT since, tries FROM ${WAITING} WHERE session = ?`,
      session,
    );
    if (row === undefined) return;
    const { since, tries } = row;
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

  /** Reads page by page: rows may be written in between. */
  *due(): Generator<string, void, void> {
    let after = "";
    for (;;) {
      const page = [
        ...this.#sql.exec<{ session: string }>(
          `SELECT session FROM ${WAITING} WHERE at <= ? AND session > ? ORDER BY session LIMIT ?`,
          this.#now(),
          after,
          PAGE,
        ),
      ];
      for (const { session } of page) yield session;
      if (page.length < PAGE) return;
      after = page.at(-1)?.session ?? after;
    }
  }

  /** @returns the time of the earliest attempt, in milliseconds since 1970. */
  soonest(): number | undefined {
    const [row] = this.#sql.exec<{ at: number | null }>(`SELECT min(at) AS at FROM ${WAITING}`);
    return row?.at ?? undefined;
  }

  /** The session has unsubscribed from the topic. */
  withdraw(session: string, slug: string, topic: Topic): void {
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
