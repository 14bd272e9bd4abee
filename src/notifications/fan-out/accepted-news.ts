/**
 * News accepted from the feeds and not yet delivered to every session: a row for each topic, with the
 * number of its newest news. It is written before the feed gets its acknowledgement, so that the next
 * life of the branch continues with it whatever happens then.
 */

import type { Sql } from "../../lib/sql.ts";
import type { News, Topic } from "../../catalog/feeds.ts";
import { Kind, SUBSCRIPTIONS_TABLE } from "./subscription-table.ts";

/** The news of one server with numbers greater than `above` and at most `upTo`. */
export interface Range {
  readonly slug: string;
  readonly above: number;
  readonly upTo: number;
}

const DUE = "due_1";
const ACCEPTED = "accepted_1";

export class AcceptedNews {
  readonly #sql: Sql;
  readonly #accepted = new Map<string, number>();

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS ${DUE} (
      slug TEXT NOT NULL, topic TEXT NOT NULL, seq INTEGER NOT NULL,
      PRIMARY KEY (slug, topic)) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE IF NOT EXISTS ${ACCEPTED} (
      slug TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID`);
    const rows = sql.exec<{ slug: string; seq: number }>(`SELECT slug, seq FROM ${ACCEPTED}`);
    for (const { slug, seq } of rows) this.#accepted.set(slug, seq);
  }

  isNew({ slug, seq }: News): boolean {
    return seq > (this.#accepted.get(slug) ?? -Infinity);
  }

  /** @param topics those with a subscribed session: without any, nothing has to be written. */
  accept({ slug, seq }: News, topics: readonly Topic[]): void {
    this.#accepted.set(slug, seq);
    if (topics.length === 0) return;
    this.#sql.exec(`INSERT OR REPLACE INTO ${ACCEPTED} VALUES (?, ?)`, slug, seq);
    for (const topic of topics) {
      this.#sql.exec(`INSERT OR REPLACE INTO ${DUE} VALUES (?, ?, ?)`, slug, topic, seq);
    }
  }

  get isEmpty(): boolean {
    const [found] = this.#sql.exec(`SELECT 1 FROM ${DUE} LIMIT 1`);
    return found === undefined;
  }

  /** @returns the servers that have pending news, with its highest number. */
  newest(): ReadonlyMap<string, number> {
    const rows = this.#sql.exec<{ slug: string; seq: number }>(
      `SELECT slug, max(seq) AS seq FROM ${DUE} GROUP BY slug`,
    );
    return new Map([...rows].map(({ slug, seq }) => [slug, seq]));
  }

  /** @returns the lowest and the highest number of pending news greater than `above`. */
  ends(slug: string, above: number): { readonly first: number; readonly last: number } | undefined {
    const [row] = this.#sql.exec<{ first: number | null; last: number | null }>(
      `SELECT min(seq) AS first, max(seq) AS last FROM ${DUE} WHERE slug = ? AND seq > ?`,
      slug,
      above,
    );
    const { first, last } = row ?? { first: null, last: null };
    return first === null || last === null ? undefined : { first, last };
  }

  /** @returns up to `limit` sessions subscribed to any topic of the range, in order. */
  sessions({ slug, above, upTo }: Range, after: string, limit: number): readonly string[] {
    const rows = this.#sql.exec<{ subscriber: string }>(
      `SELECT DISTINCT w.subscriber FROM ${DUE} d
       CROSS JOIN ${SUBSCRIPTIONS_TABLE} w ON w.slug = d.slug AND w.topic = d.topic
       WHERE d.slug = ? AND d.seq > ? AND d.seq <= ? AND w.kind = ? AND w.subscriber > ?
       ORDER BY w.subscriber LIMIT ?`,
      slug,
      above,
      upTo,
      Kind.Session,
      after,
      limit,
    );
    return [...rows].map(({ subscriber }) => subscriber);
  }

  /** @returns the topics of the range to which a session is subscribed now, as one piece of news. */
  of(session: string, { slug, above, upTo }: Range): News | undefined {
    const rows = [
      ...this.#sql.exec<{ topic: Topic; seq: number }>(
        `SELECT d.topic, d.seq FROM ${SUBSCRIPTIONS_TABLE} w
         CROSS JOIN ${DUE} d ON d.slug = w.slug AND d.topic = w.topic
         WHERE w.subscriber = ? AND w.slug = ? AND d.seq > ? AND d.seq <= ?`,
        session,
        slug,
        above,
        upTo,
      ),
    ];
    if (rows.length === 0) return undefined;
    const seq = rows.reduce((highest, row) => Math.max(highest, row.seq), above);
    return { slug, seq, topics: rows.map(({ topic }) => topic) };
  }

  /** Removes delivered news. A topic that has changed again since has a higher number, and stays. */
  done({ slug, above, upTo }: Range): void {
    this.#sql.exec(`DELETE FROM ${DUE} WHERE slug = ? AND seq > ? AND seq <= ?`, slug, above, upTo);
  }
}
