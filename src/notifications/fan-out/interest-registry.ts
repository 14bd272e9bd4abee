/**
 * What the feeds have been told that a branch wants to hear of. Each life of the branch tells them
 * anew what it is asked for, which wakes feeds after a restart; what nobody wants any more is told
 * after a while, since whoever left is often back at once. What a feed may not have heard is on record
 * until it has.
 */

import type { Sql } from "../../lib/sql.ts";
import type { Feeds, Topic } from "../../catalog/feeds.ts";
import { isListTopic } from "../../catalog/topics.ts";
import type { Deadlines } from "../../lib/deadlines.ts";
import type { SubscriptionTable } from "./subscription-table.ts";

export interface InterestRegistryParts {
  readonly branch: number;
  readonly sql: Sql;
  readonly subscriptions: SubscriptionTable;
  readonly feeds: Feeds;
  readonly deadlines: Deadlines;
  /** How long a subscriber waits for what one feed says of lists, and of resources. */
  readonly listsMs: number;
  readonly urisMs: number;
  /** Whether there is such a server. */
  readonly knows: (slug: string) => boolean;
  readonly now: () => number;
  readonly scheduleAlarm: (at: number) => void;
}

const UNTOLD = "untold_1";
const LEAVE_MS = 30_000;
/** Lists are taken for honoured meanwhile. */
const SILENT_MS = 5000;
/** A server that does not tell of a list may do so after its next restart. */
const HEARSAY_MS = 60_000;
const RETRY_MS = 30_000;
const MAX_RETRY_MS = 600_000;
const AT_ONCE = 1000;

const NONE: ReadonlySet<Topic> = new Set();

export interface InterestVerdict {
  /** What the server will tell of: at least those of the topics asked for. */
  readonly honoured: ReadonlySet<Topic>;
  /** The feed has not answered for these. It is told of them until it has heard. */
  readonly unanswered: ReadonlySet<Topic>;
}

type Answer = Promise<ReadonlySet<Topic> | undefined>;
interface Removal {
  readonly topics: ReadonlySet<Topic>;
  readonly over: Promise<unknown>;
}

export class InterestRegistry {
  readonly #parts: InterestRegistryParts;
  /** Topics that this life has told of, and that the server will tell of. */
  readonly #interests = new Map<string, Set<Topic>>();
  /** Lists that a feed knows somebody wants, but whose server does not tell; and until when. */
  readonly #hearsay = new Map<string, number>();
  readonly #asked = new Map<string, Answer>();
  readonly #removals = new Map<string, Removal>();
  readonly #tries = new Map<string, number>();

  constructor(parts: InterestRegistryParts) {
    this.#parts = parts;
    parts.sql.exec(`CREATE TABLE IF NOT EXISTS ${UNTOLD} (
      slug TEXT NOT NULL, topic TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (slug, topic)) WITHOUT ROWID`);
  }

  /** Has a feed listen for these. Waits for its answer, within a bound. */
  async ask(slug: string, topics: readonly Topic[]): Promise<InterestVerdict> {
    const told = this.#toldOf(slug);
    const now = this.#parts.now();
    const isHearsay = (topic: Topic): boolean =>
      (this.#hearsay.get(key(slug, topic)) ?? -Infinity) > now;
    const rest = topics.filter((topic) => !told.has(topic) && !isHearsay(topic));
    if (rest.length === 0) return { honoured: told, unanswered: NONE };
    const removal = this.#removals.get(slug);
    if (rest.some((topic) => removal?.topics.has(topic))) await removal?.over;
    const fresh = rest.filter((topic) => !told.has(topic) && !this.#asked.has(key(slug, topic)));
    if (fresh.length > 0) {
      const answer = this.#watch(slug, fresh);
      for (const topic of fresh) this.#asked.set(key(slug, topic), answer);
    }
    const answers = new Map(rest.map((topic) => [topic, this.#asked.get(key(slug, topic))]));
    const unanswered = new Set<Topic>();
    for (const [topic, answer] of answers) {
      if (answer !== undefined && (await answer) === undefined) unanswered.add(topic);
    }
    return { honoured: told, unanswered };
  }

  /** A feed may think otherwise of these than it should. It is told, unless that is settled before. */
  doubt(slug: string, topics: readonly Topic[], inMs = LEAVE_MS): void {
    const { sql, now, scheduleAlarm: ring } = this.#parts;
    if (topics.length === 0) return;
    const at = now() + inMs;
    for (const topic of topics) {
      sql.exec(
        `INSERT INTO ${UNTOLD} VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET at = excluded.at WHERE excluded.at < at`,
        ...[slug, topic, at],
      );
    }
    ring(at);
  }

  /** Tells the feeds whatever is due. */
  async settle(): Promise<void> {
    const { sql, now } = this.#parts;
    const rows = sql.exec<{ slug: string }>(
      `SELECT DISTINCT slug FROM ${UNTOLD} WHERE at <= ?`,
      now(),
    );
    await Promise.all([...rows].map(({ slug }) => this.#settle(slug)));
  }

  /** When the next is due. */
  soonest(): number | undefined {
    const [row] = this.#parts.sql.exec<{ at: number | null }>(
      `SELECT min(at) AS at FROM ${UNTOLD}`,
    );
    return row?.at ?? undefined;
  }

  async #settle(slug: string): Promise<void> {
    const { sql, branch, subscriptions, feeds, deadlines, urisMs, knows, now } = this.#parts;
    if (this.#removals.has(slug)) return;
    const told = this.#toldOf(slug);
    const rows = [
      ...sql.exec<{ topic: Topic; at: number }>(
        `SELECT topic, at FROM ${UNTOLD} WHERE slug = ? AND at <= ? LIMIT ?`,
        ...[slug, now(), AT_ONCE],
      ),
    ];
    const wanted = rows.filter(({ topic }) => subscriptions.isWanted({ slug, topic }));
    const add = wanted.map(({ topic }) => topic).filter((topic) => !told.has(topic));
    const remove = rows.filter((row) => !wanted.includes(row)).map(({ topic }) => topic);
    for (const topic of remove) {
      told.delete(topic);
      this.#hearsay.delete(key(slug, topic));
    }
    let isTold = !knows(slug) || add.length + remove.length === 0;
    if (!isTold) {
      const change = feeds.of(slug).watch(branch, { add, remove });
      const heard = deadlines.within(change, urisMs).catch(() => undefined);
      this.#removals.set(slug, { topics: new Set(remove), over: heard });
      const topics = await heard;
      this.#removals.delete(slug);
      // It may still be carried out, after somebody has asked for the same again.
      if (topics === undefined)
        void change.catch(() => []).then(() => this.#tellAgain(slug, remove));
      for (const topic of topics ?? []) told.add(topic);
      isTold = topics !== undefined;
    }
    const tries = isTold ? 0 : (this.#tries.get(slug) ?? 0) + 1;
    this.#tries.set(slug, tries);
    const later = now() + Math.min(RETRY_MS * 2 ** (tries - 1), MAX_RETRY_MS);
    for (const { topic, at } of rows) {
      const same = [slug, topic, at] as const;
      if (isTold) {
        sql.exec(`DELETE FROM ${UNTOLD} WHERE slug = ? AND topic = ? AND at = ?`, ...same);
      } else {
        const update = `UPDATE ${UNTOLD} SET at = ? WHERE slug = ? AND topic = ? AND at = ?`;
        sql.exec(update, later, ...same);
      }
    }
  }

  #tellAgain(slug: string, topics: readonly Topic[]): void {
    const told = this.#toldOf(slug);
    const again = topics.filter((topic) => told.delete(topic));
    this.doubt(slug, again, 0);
  }

  async #watch(slug: string, add: readonly Topic[]): Answer {
    const { branch, feeds, deadlines, listsMs, urisMs, now } = this.#parts;
    const change = feeds.of(slug).watch(branch, { add, remove: [] });
    const ms = add.every(isListTopic) ? listsMs : urisMs;
    const heard = await deadlines.within(change, ms).catch(() => undefined);
    for (const topic of add) this.#asked.delete(key(slug, topic));
    if (heard === undefined) {
      this.doubt(slug, add, SILENT_MS);
      // It may still be carried out, when nobody wants it any more.
      void change.catch(() => []).then(() => this.doubt(slug, add));
      return undefined;
    }
    const told = this.#toldOf(slug);
    for (const topic of heard) told.add(topic);
    for (const topic of add) {
      if (isListTopic(topic)) this.#hearsay.set(key(slug, topic), now() + HEARSAY_MS);
    }
    return new Set(heard);
  }

  #toldOf(slug: string): Set<Topic> {
    const found = this.#interests.get(slug) ?? new Set();
    this.#interests.set(slug, found);
    return found;
  }
}

function key(slug: string, topic: Topic): string {
  return `${slug} ${topic}`;
}
