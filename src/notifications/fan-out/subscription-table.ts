/**
 * The subscriptions of one branch: a row for each topic of each subscriber, indexed by subscriber and
 * by topic. Legacy sessions and modern listeners share one table, so that the last subscriber of a
 * topic is recognized whichever it is.
 */

import type { Sql } from "../../lib/sql.ts";
import type { Topic } from "../../catalog/feeds.ts";

/** The way to a subscriber: a call that is repeated until the news is taken, or an open socket. */
export const Kind = { Session: 0, Listener: 1 } as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/** A topic of one server. */
export interface ServerTopic {
  readonly slug: string;
  readonly topic: Topic;
}

type TopicRow = { readonly slug: string; readonly topic: Topic };
type NameRow = { readonly subscriber: string };

export const SUBSCRIPTIONS_TABLE = "wants_1";
const NO_OTHER_SUBSCRIBER = `NOT EXISTS (SELECT 1 FROM ${SUBSCRIPTIONS_TABLE} o WHERE o.slug = w.slug
  AND o.topic = w.topic AND o.subscriber <> w.subscriber)`;

export class SubscriptionTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS ${SUBSCRIPTIONS_TABLE} (
      subscriber TEXT NOT NULL, slug TEXT NOT NULL, topic TEXT NOT NULL, kind INTEGER NOT NULL,
      PRIMARY KEY (subscriber, slug, topic)) WITHOUT ROWID`);
    sql.exec(`CREATE INDEX IF NOT EXISTS ${SUBSCRIPTIONS_TABLE}_by_topic
      ON ${SUBSCRIPTIONS_TABLE} (slug, topic, kind, subscriber)`);
  }

  add(subscriber: string, kind: Kind, { slug, topic }: ServerTopic): void {
    this.#sql.exec(
      `INSERT OR IGNORE INTO ${SUBSCRIPTIONS_TABLE} VALUES (?, ?, ?, ?)`,
      subscriber,
      slug,
      topic,
      kind,
    );
  }

  /** @returns whether the topic has no subscriber left in this branch. */
  remove(subscriber: string, { slug, topic }: ServerTopic): boolean {
    const [removed] = this.#sql.exec(
      `DELETE FROM ${SUBSCRIPTIONS_TABLE} WHERE subscriber = ? AND slug = ? AND topic = ? RETURNING 1`,
      subscriber,
      slug,
      topic,
    );
    return removed !== undefined && !this.isWanted({ slug, topic });
  }

  /** Removes a subscriber. @returns the topics that have no subscriber left in this branch. */
  forget(subscriber: string): readonly ServerTopic[] {
    const last = this.#sql.exec<TopicRow>(
      `SELECT slug, topic FROM ${SUBSCRIPTIONS_TABLE} w WHERE subscriber = ? AND ${NO_OTHER_SUBSCRIBER}`,
      subscriber,
    );
    const unwanted = [...last];
    this.#sql.exec(`DELETE FROM ${SUBSCRIPTIONS_TABLE} WHERE subscriber = ?`, subscriber);
    return unwanted;
  }

  of(subscriber: string): readonly ServerTopic[] {
    const rows = this.#sql.exec<TopicRow>(
      `SELECT slug, topic FROM ${SUBSCRIPTIONS_TABLE} WHERE subscriber = ?`,
      subscriber,
    );
    return [...rows];
  }

  /** @returns what any subscriber wants of a server. */
  topicsAt(slug: string): readonly Topic[] {
    const query = `SELECT DISTINCT topic FROM ${SUBSCRIPTIONS_TABLE} WHERE slug = ?`;
    return Array.from(this.#sql.exec<{ topic: Topic }>(query, slug), ({ topic }) => topic);
  }

  subscribersOf({ slug, topic }: ServerTopic): readonly string[] {
    const query = `SELECT subscriber FROM ${SUBSCRIPTIONS_TABLE} WHERE slug = ? AND topic = ?`;
    return Array.from(this.#sql.exec<NameRow>(query, slug, topic), ({ subscriber }) => subscriber);
  }

  has(subscriber: string, { slug, topic }: ServerTopic): boolean {
    const [found] = this.#sql.exec(
      `SELECT 1 FROM ${SUBSCRIPTIONS_TABLE} WHERE subscriber = ? AND slug = ? AND topic = ?`,
      subscriber,
      slug,
      topic,
    );
    return found !== undefined;
  }

  /** @param kind of the subscriber; either kind if omitted. */
  isWanted({ slug, topic }: ServerTopic, kind?: Kind): boolean {
    const [from, to] = kind === undefined ? [Kind.Session, Kind.Listener] : [kind, kind];
    const [found] = this.#sql.exec(
      `SELECT 1 FROM ${SUBSCRIPTIONS_TABLE} WHERE slug = ? AND topic = ? AND kind BETWEEN ? AND ? LIMIT 1`,
      slug,
      topic,
      from,
      to,
    );
    return found !== undefined;
  }

  /** @returns the number of resources of a subscriber, over all servers. */
  uriCount(subscriber: string): number {
    const [row] = this.#sql.exec<{ n: number }>(
      `SELECT count(*) AS n FROM ${SUBSCRIPTIONS_TABLE} WHERE subscriber = ? AND topic LIKE 'uri:%'`,
      subscriber,
    );
    return row?.n ?? 0;
  }

  /** Reads row by row: nothing may be written until the last row was read. */
  *listenersOf({ slug, topic }: ServerTopic): Generator<string, void, void> {
    const rows = this.#sql.exec<NameRow>(
      `SELECT subscriber FROM ${SUBSCRIPTIONS_TABLE} WHERE slug = ? AND topic = ? AND kind = ?`,
      slug,
      topic,
      Kind.Listener,
    );
    for (const { subscriber } of rows) yield subscriber;
  }

  /** @returns up to `limit` listeners, in order. */
  listeners(after: string, limit: number): readonly string[] {
    const rows = this.#sql.exec<NameRow>(
      `SELECT DISTINCT subscriber FROM ${SUBSCRIPTIONS_TABLE}
       WHERE kind = ? AND subscriber > ? ORDER BY subscriber LIMIT ?`,
      Kind.Listener,
      after,
      limit,
    );
    return [...rows].map(({ subscriber }) => subscriber);
  }
}
