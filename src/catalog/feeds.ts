/**
 * The ports to what the gateway knows of one upstream, and to those who want to hear of it.
 * Durable Objects satisfy them; every call may fail when its object is restarted, and may then be
 * made anew: each can be made twice without harm.
 */

import type { ServerHealth } from "../observability/health.ts";
import type { Catalog, CatalogAnswer, CatalogQuestion, Trouble } from "./catalog.ts";

/** A list of a server that may change, or a resource. */
export type Topic = "tools" | "prompts" | "resources" | `uri:${string}`;

export const LIST_TOPICS = ["tools", "prompts", "resources"] as const satisfies readonly Topic[];

/** Topics by slug. Plain data. */
export type Interests = Readonly<Record<string, readonly Topic[]>>;

/** Something has changed at a server. */
export interface News {
  readonly slug: string;
  /** Grows with every piece of news of a server, over restarts too. */
  readonly seq: number;
  readonly topics: readonly Topic[];
}

/** What the gateway knows of one upstream, for all its users. */
export interface Feed {
  catalog(question: CatalogQuestion): Promise<CatalogAnswer>;
  /**
   * Makes these the topics that a branch of the fan-out wants to hear of.
   *
   * @returns those of `add` that the server will tell of.
   */
  watch(branch: number, change: TopicChange): Promise<readonly Topic[]>;
  /** A caller found that the server is not to be had, or that it is again. */
  report(trouble: Trouble | undefined): Promise<void>;
  health(): Promise<ServerHealth>;
  /** What is known of its resources, without asking the server (`resourcesOf`). */
  resources(): Promise<Catalog | undefined>;
}

export interface TopicChange {
  readonly add: readonly Topic[];
  readonly remove: readonly Topic[];
}

export interface Feeds {
  of(slug: string): Feed;
}

/** The branches of the fan-out: each carries the news of all servers to a share of the listeners. */
export interface FanOut {
  /**
   * Adds to what a legacy session hears of.
   *
   * @param session the id of its object.
   * @returns those topics that the servers will tell of.
   */
  subscribe(session: string, interests: Interests): Promise<Interests>;
  /** @param interests everything, if not said. */
  unsubscribe(session: string, interests?: Interests): Promise<void>;
  /** Opens a modern listener's way to its branch. It is closed by whoever is done with it. */
  listen(interests: Interests): Promise<NewsSocket>;
}

export interface NewsSocket {
  /** What the servers will tell of. */
  readonly honoured: Interests;
  /** @returns `undefined` when the way is broken: what was said meanwhile is lost. */
  next(): Promise<News | undefined>;
  close(): void;
}
