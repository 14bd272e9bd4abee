/**
 * The news of a vault: its owner has other accounts than before. It is announced as a server's changes are,
 * as a change of all lists, since each may be another one now. An account that was connected is announced to
 * those as well that had asked for it. The branches' interests are stored.
 */

import type { Sql } from "../../lib/sql.ts";
import { LIST_TOPICS, type News, type Topic, type TopicChange } from "../../catalog/feeds.ts";
import { askOf, isListTopic } from "../../catalog/topics.ts";
import { NewsNumbers, Publisher } from "./publisher.ts";
import { TopicInterest } from "./topic-interest.ts";

export interface VaultNewsOptions {
  /** `vaultKey`. */
  readonly key: string;
  readonly sql: Sql;
  /** Rejects when the branch cannot be reached; it is tried again. */
  readonly publish: (branch: number, news: News) => Promise<void>;
  /** Whether the account at a server can be used, and allows all that was asked of it. */
  readonly isUsable: (slug: string) => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class VaultNews {
  readonly #wanted: TopicInterest;
  readonly #publisher: Publisher;
  readonly #isUsable: VaultNewsOptions["isUsable"];

  constructor({ key, sql, publish, isUsable, now }: VaultNewsOptions) {
    this.#isUsable = isUsable;
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
    const taken = add.filter((topic) => isListTopic(topic) || askOf(topic) !== undefined);
    for (const topic of taken) {
      this.#wanted.ask(branch, topic);
      this.#wanted.answer(branch, topic, "promised");
    }
    // The person was faster than whoever asked.
    this.#publisher.announce(taken.filter((topic) => this.#isUsable(askOf(topic)?.slug ?? "")));
    return taken;
  }

  /** @param connected the server at which an account was connected; omitted where one was ended. */
  announce(connected?: string): void {
    const asks = this.#wanted.promised().filter((topic) => askOf(topic)?.slug === connected);
    this.#publisher.announce([...LIST_TOPICS, ...(connected === undefined ? [] : asks)]);
  }
}
