/**
 * News of the gateway's own: of a vault, or of the servers that operators add. It is announced as a server's changes
 * are. The branches' interests are stored, and every one that is taken is promised. What a branch has not acknowledged
 * is stored as well, in the turn in which it is announced: a feed that is restarted announces everything, since it
 * cannot know what it missed, but here nothing is missed.
 */

import type { News, Topic, TopicChange } from "../../catalog/feeds.ts";
import { isListTopic, uriOf } from "../../catalog/topics.ts";
import type { Sql } from "../../lib/sql.ts";
import { NewsNumbers, Publisher } from "./publisher.ts";
import { TopicInterest } from "./topic-interest.ts";

/** Wakes the Durable Object, whose next life goes on with what this one has not delivered. */
interface OwnNewsAlarm {
  /** Schedules a call of `wake` at this time (milliseconds since 1970) or before. */
  readonly noLaterThan: (at: number) => void;
  /** Nobody needs the alarm of this time any more. */
  readonly withdraw: (at: number) => void;
}

export interface OwnNewsOptions {
  readonly key: string;
  readonly sql: Sql;
  /** Rejects when the branch cannot be reached; it is tried again. */
  readonly publish: (branch: number, news: News) => Promise<void>;
  /** Whether it has happened already, so that it is announced as soon as it is asked for. */
  readonly isDue: (topic: Topic) => boolean;
  readonly alarm: OwnNewsAlarm;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A life that is lost while it delivers is followed by another after this. */
const WATCHDOG_MS = 30_000;

export class OwnNews {
  readonly #options: OwnNewsOptions;
  readonly #wanted: TopicInterest;
  readonly #publisher: Publisher;
  /** The announcement that each topic was last part of, in this life. */
  readonly #announcedIn = new Map<Topic, number>();
  #announcements = 0;
  /** The news that each branch was last sent, and the announcements when that was first: a repetition has no later one. */
  readonly #sentFirst = new Map<number, { readonly seq: number; readonly announcements: number }>();
  #wakesAt: number | undefined;

  constructor(options: OwnNewsOptions) {
    const { key: slug, sql, now } = options;
    this.#options = options;
    const numbers = new NewsNumbers(sql, now);
    const wanted = new TopicInterest(sql);
    this.#wanted = wanted;
    this.#publisher = new Publisher({
      ...{ slug, wanted, now },
      publish: (branch, news) => this.#publish(branch, news),
      collectMs: 0,
      nextSeq: () => numbers.next(),
      outdated: () => undefined,
    });
    sql.exec(
      `CREATE TABLE IF NOT EXISTS unsent_1 (
        branch INTEGER NOT NULL, topic TEXT NOT NULL, PRIMARY KEY (branch, topic)
      ) WITHOUT ROWID`,
    );
    for (const [branch, rows] of Map.groupBy(this.#unsent(), (row) => row.branch)) {
      const topics = rows.map(({ topic }) => topic);
      this.#publisher.announceTo(branch, topics);
    }
    this.wake();
  }

  /** @returns those of `add` that will be announced. */
  watch(branch: number, { add, remove, isLate }: TopicChange): readonly Topic[] {
    for (const topic of remove) {
      if (!this.#wanted.remove(branch, topic)) continue;
      this.#publisher.forget(branch, topic);
      this.#sent(branch, topic);
    }
    const taken = add.filter((topic) => uriOf(topic) === undefined);
    const isNew = (topic: Topic): boolean => !this.#wanted.isWantedBy(branch, topic);
    const missed = isLate === true ? taken.filter((each) => isListTopic(each) && isNew(each)) : [];
    for (const topic of taken) {
      this.#wanted.ask(branch, topic);
      this.#wanted.answer(branch, topic, "promised");
    }
    this.announce(taken.filter((topic) => this.#options.isDue(topic)));
    this.#note(missed, () => [branch]);
    this.#publisher.announceTo(branch, missed);
    return taken;
  }

  announce(topics: readonly Topic[]): void {
    this.#note(topics, (topic) => this.#wanted.branchesOf(topic));
    this.#publisher.announce(topics);
  }

  /** Keeps the Durable Object for as long as something is not acknowledged. To be called when the alarm fires. */
  wake(): void {
    if (this.#unsent().length === 0) return;
    const now = this.#options.now();
    if (this.#wakesAt === undefined || this.#wakesAt <= now) this.#wakesAt = now + WATCHDOG_MS;
    this.#options.alarm.noLaterThan(this.#wakesAt);
  }

  promised(): readonly Topic[] {
    return this.#wanted.promised();
  }

  #note(topics: readonly Topic[], branchesOf: (topic: Topic) => Iterable<number>): void {
    if (topics.length === 0) return;
    this.#announcements += 1;
    for (const topic of topics) {
      this.#announcedIn.set(topic, this.#announcements);
      for (const branch of branchesOf(topic)) {
        this.#options.sql.exec(
          "INSERT OR IGNORE INTO unsent_1 (branch, topic) VALUES (?, ?)",
          branch,
          topic,
        );
      }
    }
    this.wake();
  }

  async #publish(branch: number, news: News): Promise<void> {
    const announcements = this.#announcementsBefore(branch, news);
    await this.#options.publish(branch, news);
    for (const topic of news.topics) {
      // What was announced meanwhile is still to come.
      if ((this.#announcedIn.get(topic) ?? 0) <= announcements) this.#sent(branch, topic);
    }
    if (this.#wakesAt === undefined || this.#unsent().length > 0) return;
    this.#options.alarm.withdraw(this.#wakesAt);
    this.#wakesAt = undefined;
  }

  /** @returns the announcements that there were when the branch was first sent this news. */
  #announcementsBefore(branch: number, { seq }: News): number {
    const first = this.#sentFirst.get(branch);
    if (first?.seq === seq) return first.announcements;
    this.#sentFirst.set(branch, { seq, announcements: this.#announcements });
    return this.#announcements;
  }

  #sent(branch: number, topic: Topic): void {
    this.#options.sql.exec("DELETE FROM unsent_1 WHERE branch = ? AND topic = ?", branch, topic);
  }

  #unsent(): readonly { readonly branch: number; readonly topic: Topic }[] {
    const { sql } = this.#options;
    return [...sql.exec<{ branch: number; topic: Topic }>("SELECT branch, topic FROM unsent_1")];
  }
}
