/**
 * The news of a vault: its owner has other accounts than before. It is announced as a change of all lists, since
 * each may be another one now. An account that was connected is announced to those as well that had asked for it.
 */

import { LIST_TOPICS, type Topic, type TopicChange } from "../../catalog/feeds.ts";
import { askOf, isListTopic } from "../../catalog/topics.ts";
import { OwnNews, type OwnNewsOptions } from "./own-news.ts";

export interface VaultNewsOptions extends Pick<
  OwnNewsOptions,
  "sql" | "publish" | "alarm" | "now"
> {
  /** `vaultKey`. */
  readonly key: string;
  /** Whether the account at a server can be used, and allows all that was asked of it. */
  readonly isUsable: (slug: string) => boolean;
}

export class VaultNews {
  readonly #news: OwnNews;

  constructor({ isUsable, ...options }: VaultNewsOptions) {
    this.#news = new OwnNews({
      ...options,
      takes: (topic) => isListTopic(topic) || askOf(topic) !== undefined,
      // The person was faster than whoever asked.
      isDue: (topic) => isUsable(askOf(topic)?.slug ?? ""),
    });
  }

  /** @returns those of `add` that will be announced. */
  watch(branch: number, change: TopicChange): readonly Topic[] {
    return this.#news.watch(branch, change);
  }

  /** To be called when the alarm fires. */
  wake(): void {
    this.#news.wake();
  }

  /** @param connected the server at which an account was connected; omitted where one was ended. */
  announce(connected?: string): void {
    const asks = this.#news.promised().filter((topic) => askOf(topic)?.slug === connected);
    this.#news.announce([...LIST_TOPICS, ...(connected === undefined ? [] : asks)]);
  }
}
