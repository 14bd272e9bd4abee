/**
 * The news of a vault: its owner has other accounts than before. It is announced as a server's changes are,
 * as a change of all lists, since each may be another one now. The branches' interests are stored.
 */

import type { Sql } from "../../lib/sql.ts";
import { LIST_TOPICS, type News, type Topic, type TopicChange } from "../../catalog/feeds.ts";
import { isListTopic } from "../../catalog/topics.ts";
import { NewsNumbers, Publisher } from "./publisher.ts";
import { TopicInterest } from "./topic-interest.ts";

export interface VaultNewsOptions {
  /** `vaultKey`. */
  readonly key: string;
  readonly sql: Sql;
  /** Rejects when the branch cannot be reached; it is tried again. */
  readonly publish: (branch: number, news: News) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class VaultNews {
  readonly #wanted: TopicInterest;
  readonly #publisher: Publisher;

  constructor({ key, sql, publish, now }: VaultNewsOptions) {
    const numbers = new NewsNumbers(sql, now);
    this.#wanted = new TopicInterest(sql);
    this.#publisher = new Publisher({
      slug: key,
      collectMs: 0,
      wanted: this.#wanted,
      nextSeq: () => numbers.next(),
      publish,
      outdated: () => undefined,
      now,
    });
  }

  /** @returns those of `add` that will be announced. */
  watch(branch: number, { add, remove }: TopicChange): readonly Topic[] {
    for (const topic of remove) {
      if (this.#wanted.remove(branch, topic)) this.#publisher.forget(branch, topic);
    }
    const lists = add.filter(isListTopic);
    for (const topic of lists) {
      this.#wanted.ask(branch, topic);
      this.#wanted.answer(branch, topic, "promised");
    }
    return lists;
  }

  announce(): void {
    this.#publisher.announce(LIST_TOPICS);
  }
}
