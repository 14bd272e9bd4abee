/**
 * Publishes changes to the branches that subscribed to them. Frequent changes are collected and sent
 * together. Each branch has its own queue and its own failures; its queue is a set of topics, so it does
 * not grow with the number of changes.
 */

import type { Backoff } from "../../lib/backoff.ts";
import { MemoryRows, type NumberedItems, Outbox } from "../../lib/outbox.ts";
import type { Sql } from "../../lib/sql.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { News, Topic } from "../../catalog/feeds.ts";
import { isListTopic, type ListTopic } from "../../catalog/topics.ts";

const BACKOFF: Backoff = { firstMs: 100, maxMs: 30_000 };
/** A branch that does not answer for this long has failed. */
const PATIENCE_MS = 30_000;
/** The shortest interval between two announcements of a list: each subscriber reads all of it again. */
const LIST_PAUSE_MS = 1000;

/** Numbers in one life; with the seconds until the year 2242, they fit into a double. */
const PER_LIFE = 2 ** 20;

export interface PublisherOptions {
  readonly slug: string;
  /** Time for which changes are collected before they are sent, in milliseconds. */
  readonly collectMs: number;
  readonly wanted: {
    has(topic: Topic): boolean;
    branchesOf(topic: Topic): Iterable<number>;
  };
  /** The next number for news. */
  readonly nextSeq: () => number;
  /** Rejects when the branch cannot be reached. */
  readonly publish: (branch: number, news: News) => Promise<void>;
  /**
   * Called before any branch receives the news.
   *
   * @param isAnnounced the branches that want these lists receive it. Else no branch was promised them until now.
   */
  readonly outdated: (lists: readonly ListTopic[], isAnnounced: boolean) => void;
  /** Called when every branch has received everything. */
  readonly sent?: () => void;
  readonly now: () => number;
}

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #due = new Set<Topic>();
  readonly #dueLists = new Set<ListTopic>();
  /** The time of the last announcement of each list. */
  readonly #listsAnnouncedAt = new Map<ListTopic, number>();
  /** Whether each of these lists is announced. */
  readonly #outdated = new Map<ListTopic, boolean>();
  /** The topics that a branch has not acknowledged. Their number lets it recognize a repetition. */
  readonly #rows: MemoryRows<number, Topic>;
  readonly #outbox: Outbox<number, NumberedItems<Topic>>;
  #flushedAt = -Infinity;
  #timer: number | null = null;
  #timerAt = Infinity;
  #isOver = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    const { nextSeq: nextNumber, now } = options;
    this.#rows = new MemoryRows({ backoff: BACKOFF, nextNumber, now });
    this.#outbox = new Outbox({
      rows: this.#rows,
      deliver: (branch, { number, items }) => this.#publish(branch, number, items),
      onFailed: () => this.#schedule(),
    });
  }

  /**
   * Announces these topics to the branches that subscribed to them.
   *
   * @param outdated lists whose cached content is no longer valid. Nobody is told of those that are not among `topics`.
   */
  announce(topics: readonly Topic[], outdated: readonly ListTopic[] = []): void {
    const { wanted } = this.#options;
    for (const list of outdated) this.#outdate(list, topics.includes(list));
    for (const topic of topics) {
      // A branch that asks for a list before this is sent may have read it as it was before.
      if (isListTopic(topic)) this.#dueLists.add(topic);
      else if (wanted.has(topic)) this.#due.add(topic);
    }
    this.#wake();
  }

  /** The cached content of a list is no longer valid, and the list is announced soon. */
  outdate(list: ListTopic): void {
    this.#outdate(list, true);
    this.#wake();
  }

  /** Announces these topics to one branch, which may have missed changes of them. */
  announceTo(branch: number, topics: readonly Topic[]): void {
    for (const topic of topics) this.#rows.append(branch, topic);
    if (topics.length > 0) this.#wake();
  }

  /** The branch has unsubscribed from the topic. */
  forget(branch: number, topic: Topic): void {
    this.#rows.withdraw(branch, topic);
    this.#delivered();
    this.#schedule();
  }

  /** Announces nothing any more. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #outdate(list: ListTopic, isAnnounced: boolean): void {
    this.#outdated.set(list, isAnnounced || this.#outdated.get(list) === true);
  }

  /** Sends what is due, and sets the timer for the rest. */
  #wake(): void {
    if (this.#isOver) return;
    if (this.#leftMs() <= 0) this.#flush();
    void this.#outbox.deliverDue().then(() => this.#delivered());
    this.#schedule();
  }

  #delivered(): void {
    if (this.#isOver || !this.#rows.isEmpty || this.#due.size + this.#dueLists.size > 0) return;
    this.#options.sent?.();
  }

  #schedule(): void {
    if (this.#isOver) return;
    const now = this.#options.now();
    const at = Math.min(now + this.#leftMs(), this.#rows.soonest() ?? Infinity);
    if (this.#timer !== null && this.#timerAt === at) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = at === Infinity ? null : setTimeout(() => this.#fired(), Math.max(0, at - now));
  }

  #fired(): void {
    this.#timer = null;
    this.#wake();
  }

  /** @returns the milliseconds until there is something to send; `Infinity` when nothing waits. */
  #leftMs(): number {
    const collectMs = this.#restOf(this.#options.collectMs, this.#flushedAt);
    if (this.#due.size + this.#outdated.size > 0) return collectMs;
    let leftMs = Infinity;
    for (const list of this.#dueLists) leftMs = Math.min(leftMs, this.#listMs(list));
    return Math.max(leftMs, collectMs);
  }

  #listMs(list: ListTopic): number {
    return this.#restOf(LIST_PAUSE_MS, this.#listsAnnouncedAt.get(list) ?? -Infinity);
  }

  /** @returns the rest of an interval, in milliseconds; 0 if the clock was set back. */
  #restOf(intervalMs: number, since: number): number {
    const passedMs = this.#options.now() - since;
    return passedMs < 0 ? 0 : Math.max(0, intervalMs - passedMs);
  }

  #flush(): void {
    const { now, wanted, outdated } = this.#options;
    this.#flushedAt = now();
    const ready = [...this.#dueLists].filter((list) => this.#listMs(list) === 0);
    const lists = Map.groupBy(this.#outdated.keys(), (list) => this.#outdated.get(list) === true);
    const topics = [...ready, ...this.#due];
    this.#outdated.clear();
    this.#due.clear();
    for (const list of ready) {
      this.#dueLists.delete(list);
      this.#listsAnnouncedAt.set(list, this.#flushedAt);
    }
    for (const [isAnnounced, alike] of lists) outdated(alike, isAnnounced);
    for (const topic of topics) {
      for (const branch of wanted.branchesOf(topic)) this.#rows.append(branch, topic);
    }
  }

  async #publish(branch: number, seq: number, topics: readonly Topic[]): Promise<boolean> {
    const { slug, publish } = this.#options;
    const published = publish(branch, { slug, seq, topics }).then(() => true);
    return (await settleWithin(published, PATIENCE_MS)) === true;
  }
}

/**
 * Numbers the news of a server. The numbers grow over all lives of the watch manager's Durable Object,
 * and one row is written in each life that has news. A receiver may remember the last number of an object that
 * has deleted even that row: so lives are numbered by the clock in seconds, and never restart at one.
 */
export class NewsNumbers {
  readonly #sql: Sql;
  readonly #now: () => number;
  #life: number | undefined;
  #count = 0;

  /** @param now milliseconds since 1970. */
  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  next(): number {
    if (this.#life === undefined || this.#count === PER_LIFE - 1) {
      this.#life = beginLife(this.#sql, Math.floor(this.#now() / 1000));
      this.#count = 0;
    }
    this.#count += 1;
    return this.#life * PER_LIFE + this.#count;
  }
}

/**
 * Deletes all that an object has stored, but for the number of its last life. Whoever has received news of a server
 * ignores what has a lower number; and the server may be back within the same second, or the clock be set back.
 *
 * @param deleteAll begins at once: what is written after its call stays.
 */
export function deleteAllButNumbers(sql: Sql, deleteAll: () => Promise<void>): Promise<void> {
  createLives(sql);
  const lives = [...sql.exec<{ life: number }>(`SELECT life FROM ${LIVES}`)];
  const deleted = deleteAll();
  for (const { life } of lives) beginLife(sql, life);
  return deleted;
}

const LIVES = "news_lives_1";

function createLives(sql: Sql): void {
  sql.exec(`CREATE TABLE IF NOT EXISTS ${LIVES} (id INTEGER PRIMARY KEY, life INTEGER)`);
}

/** @returns the number of the next life, which is at least `least`. */
function beginLife(sql: Sql, least: number): number {
  createLives(sql);
  const rows = sql.exec<{ life: number }>(
    `INSERT INTO ${LIVES} (id, life) VALUES (0, ?)
     ON CONFLICT (id) DO UPDATE SET life = max(life + 1, excluded.life) RETURNING life`,
    least,
  );
  let life = 0;
  for (const row of rows) life = row.life;
  return life;
}
