/**
 * The news that operators have changed the servers. Whoever asks for it says which version of the servers they
 * have, and is told once there is a newer one: at once, if there is one already.
 */

import type { Topic, TopicChange } from "../../catalog/feeds.ts";
import { versionOf } from "../../catalog/topics.ts";
import { SERVERS_KEY } from "../../upstream/server-key.ts";
import { OwnNews, type OwnNewsOptions } from "./own-news.ts";

export interface ServersNewsOptions extends Pick<OwnNewsOptions, "sql" | "publish" | "now"> {
  readonly version: () => number;
}

export class ServersNews {
  readonly #news: OwnNews;
  readonly #isDue: (topic: Topic) => boolean;

  constructor({ version, ...options }: ServersNewsOptions) {
    this.#isDue = (topic) => (versionOf(topic) ?? Infinity) < version();
    this.#news = new OwnNews({
      ...options,
      key: SERVERS_KEY,
      takes: (topic) => versionOf(topic) !== undefined,
      isDue: this.#isDue,
      // Whoever calls learns of a new version by that.
      alarm: { noLaterThan: () => undefined, withdraw: () => undefined },
    });
    // An earlier life may have ended before everybody was told.
    this.announce();
  }

  /** @returns those of `add` that will be announced. */
  watch(branch: number, change: TopicChange): readonly Topic[] {
    return this.#news.watch(branch, change);
  }

  /** There is a new version. */
  announce(): void {
    this.#news.announce(this.#news.promised().filter(this.#isDue));
  }
}
