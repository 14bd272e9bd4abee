/**
 * News of the gateway's own: of a vault, or of the servers that operators add. It is announced as a server's changes
 * are. The branches' interests are stored, and every one that is taken is promised.
 */

import type { News, Topic, TopicChange } from "../../catalog/feeds.ts";
import { isListTopic } from "../../catalog/topics.ts";
import type { Sql } from "../../lib/sql.ts";
import { NewsNumbers, Publisher } from "./publisher.ts";
import { TopicInterest } from "./topic-interest.ts";

export interface OwnNewsOptions {
  readonly key: string;
  readonly sql: Sql;
  /** Rejects when the branch cannot be reached; it is tried again. */
  readonly publish: (branch: number, news: News) => Promise<void>;
  readonly takes: (topic: Topic) => boolean;
  /** Whether it has happened already, so that it is announced as soon as it is asked for. */
  readonly isDue: (topic: Topic) => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class OwnNews {
  readonly #options: OwnNewsOptions;
  readonly #wanted: TopicInterest;
  readonly #publisher: Publisher;

  constructor(options: OwnNewsOptions) {
    const { key: slug, sql, publish, now } = options;
    this.#options = options;
    const numbers = new NewsNumbers(sql, now);
    const wanted = new TopicInterest(sql);
    this.#wanted = wanted;
    this.#publisher = new Publisher({
      ...{ slug, wanted, publish, now },
      collectMs: 0,
      nextSeq: () => numbers.next(),
      outdated: () => undefined,
    });
  }

  /** @returns those of `add` that will be announced. */
  watch(branch: number, { add, remove, isLate }: TopicChange): readonly Topic[] {
    for (const topic of remove) {
      if (this.#wanted.remove(branch, topic)) this.#publisher.forget(branch, topic);
    }
    const taken = add.filter((topic) => this.#options.takes(topic));
    const isNew = (topic: Topic): boolean => !this.#wanted.isWantedBy(branch, topic);
    const missed = isLate === true ? taken.filter((each) => isListTopic(each) && isNew(each)) : [];
    for (const topic of taken) {
      this.#wanted.ask(branch, topic);
      this.#wanted.answer(branch, topic, "promised");
    }
    this.#publisher.announce(taken.filter((topic) => this.#options.isDue(topic)));
    this.#publisher.announceTo(branch, missed);
    return taken;
  }

  announce(topics: readonly Topic[]): void {
    this.#publisher.announce(topics);
  }

  promised(): readonly Topic[] {
    return this.#wanted.promised();
  }
}
