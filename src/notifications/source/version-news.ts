/**
 * The news that there is a newer version of something: of the servers that operators have added, or of what a person
 * publishes. Whoever asks for it says which version they have, and is told once there is a newer one: at once, if
 * there is one already. What has just changed, or changes while they ask, is not missed.
 */

import { LIST_TOPICS, type Topic, type TopicChange } from "../../catalog/feeds.ts";
import { isListTopic, versionOf } from "../../catalog/topics.ts";
import { OwnNews, type OwnNewsOptions } from "./own-news.ts";

export interface VersionNewsOptions extends Omit<OwnNewsOptions, "takes" | "isDue"> {
  /** Whether there is something newer for whoever has this version. */
  readonly isOld: (version: number) => boolean;
}

export class VersionNews {
  readonly #news: OwnNews;
  readonly #isDue: (topic: Topic) => boolean;

  constructor({ isOld, ...options }: VersionNewsOptions) {
    this.#isDue = (topic) => {
      const version = versionOf(topic);
      return version !== undefined && isOld(version);
    };
    this.#news = new OwnNews({
      ...options,
      takes: (topic) => isListTopic(topic) || versionOf(topic) !== undefined,
      isDue: this.#isDue,
    });
    // An earlier life may have ended before everybody was told.
    this.#news.announce(this.#due);
  }

  /** @returns those of `add` that will be announced. */
  watch(branch: number, change: TopicChange): readonly Topic[] {
    return this.#news.watch(branch, change);
  }

  /** To be called when the alarm fires. */
  wake(): void {
    this.#news.wake();
  }

  /** There is a new version, and the lists may be others. */
  announce(): void {
    this.#news.announce([...LIST_TOPICS, ...this.#due]);
  }

  get #due(): readonly Topic[] {
    return this.#news.promised().filter(this.#isDue);
  }
}
