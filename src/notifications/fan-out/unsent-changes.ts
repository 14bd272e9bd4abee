/**
 * The topics about which the feeds may be wrong: the rows of the outbox to the feeds. Each topic is sent
 * as it is wanted then, so the rows have no more than its name.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import type { OutboxRows } from "../../lib/outbox.ts";
import type { Sql } from "../../lib/sql.ts";
import type { Topic } from "../../catalog/feeds.ts";

const UNSENT = "untold_1";
const BACKOFF: Backoff = { firstMs: 30_000, maxMs: 600_000 };
const AT_ONCE = 1000;

export class UnsentChanges implements OutboxRows<string, readonly Topic[]> {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #failures = new Map<string, number>();
  /** The topics that are being sent to each feed, and whether each was appended again meanwhile. */
  readonly #sending = new Map<string, Map<Topic, boolean>>();

  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.exec(`CREATE TABLE IF NOT EXISTS ${UNSENT} (
      slug TEXT NOT NULL, topic TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (slug, topic)) WITHOUT ROWID`);
  }

  /** @param at the time at which it is due, unless it is due earlier already. */
  append(slug: string, topic: Topic, at: number): void {
    const sending = this.#sending.get(slug);
    const isSent = sending?.has(topic) === true;
    if (isSent) sending.set(topic, true);
    this.#sql.exec(
      `INSERT INTO ${UNSENT} VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET at = excluded.at WHERE ? OR excluded.at < at`,
      slug,
      topic,
      at,
      isSent ? 1 : 0,
    );
  }

  /** @returns the topics about which this feed may be wrong. */
  at(slug: string): ReadonlySet<Topic> {
    const query = `SELECT topic FROM ${UNSENT} WHERE slug = ?`;
    return new Set(Array.from(this.#sql.exec<{ topic: Topic }>(query, slug), ({ topic }) => topic));
  }

  next(slug: string): readonly Topic[] | undefined {
    const query = `SELECT topic FROM ${UNSENT} WHERE slug = ? AND at <= ? LIMIT ?`;
    const rows = this.#sql.exec<{ topic: Topic }>(query, slug, this.#now(), AT_ONCE);
    const topics = Array.from(rows, ({ topic }) => topic);
    if (topics.length === 0) return undefined;
    this.#sending.set(slug, new Map(topics.map((topic) => [topic, false])));
    return topics;
  }

  acknowledged(slug: string): void {
    this.#failures.delete(slug);
    const query = `DELETE FROM ${UNSENT} WHERE slug = ? AND topic = ?`;
    for (const topic of this.#endOfSending(slug)) this.#sql.exec(query, slug, topic);
  }

  trying(): void {
    // The alarm that begins it fires again only when it has ended.
  }

  failed(slug: string): void {
    const failures = this.#failures.get(slug) ?? 0;
    this.#failures.set(slug, failures + 1);
    const later = this.#now() + pauseMs(BACKOFF, failures);
    const query = `UPDATE ${UNSENT} SET at = ? WHERE slug = ? AND topic = ?`;
    for (const topic of this.#endOfSending(slug)) this.#sql.exec(query, later, slug, topic);
  }

  due(): readonly string[] {
    const query = `SELECT DISTINCT slug FROM ${UNSENT} WHERE at <= ?`;
    return Array.from(this.#sql.exec<{ slug: string }>(query, this.#now()), ({ slug }) => slug);
  }

  soonest(): number | undefined {
    const query = `SELECT min(at) AS at FROM ${UNSENT}`;
    const [row] = this.#sql.exec<{ at: number | null }>(query);
    return row?.at ?? undefined;
  }

  /** @returns the topics that were sent, but for those that were appended meanwhile. */
  #endOfSending(slug: string): readonly Topic[] {
    const sending = [...(this.#sending.get(slug) ?? [])];
    this.#sending.delete(slug);
    return sending.flatMap(([topic, isAgain]) => (isAgain ? [] : [topic]));
  }
}
