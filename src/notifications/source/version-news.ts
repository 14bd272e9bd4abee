/**
 * The news that there is a newer version of something: of the servers that operators have added, or of what a person
 * publishes. Whoever asks for it says which version they have, and is told once there is a newer one: at once, if
 * there is one already. What has just changed, or changes while they ask, is not missed.
 */

import { LIST_TOPICS, type Topic } from "../../catalog/feeds.ts";
import { versionOf } from "../../catalog/topics.ts";
import { OwnNews, type OwnNewsOptions } from "./own-news.ts";

export interface VersionNewsOptions extends Omit<OwnNewsOptions, "isDue"> {
  /** Whether there is something newer for whoever has this version. */
  readonly isOld: (version: number) => boolean;
}

export class VersionNews extends OwnNews {
  readonly #isDue: (topic: Topic) => boolean;

  constructor({ isOld, ...options }: VersionNewsOptions) {
    const isDue = (topic: Topic): boolean => isOld(versionOf(topic) ?? Infinity);
    super({ ...options, isDue });
    this.#isDue = isDue;
    // An earlier life may have ended before everybody was told.
    this.grown([]);
  }

  /** There is a new version, and these lists may be others. */
  grown(lists: readonly Topic[] = LIST_TOPICS): void {
    this.announce([...lists, ...this.promised().filter(this.#isDue)]);
  }
}
