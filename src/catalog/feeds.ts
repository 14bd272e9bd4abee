/**
 * The ports to the gateway's knowledge of one upstream, and to the receivers of its notifications.
 * Durable Objects implement them. A call may fail when its object restarts, and may then be
 * repeated: all calls are idempotent.
 */

import type { ServerHealth, ServerReport } from "../observability/health.ts";
import type { Catalog, CatalogAnswer, CatalogQuestion, Trouble } from "./catalog.ts";

/**
 * A list of a server, or one of its resources, that may change; or, of a vault, a person who was asked to
 * connect an account, and may do so; or the version of the servers, of which there may be a newer one.
 */
export type Topic =
  | "tools"
  | "prompts"
  | "resources"
  | `uri:${string}`
  | `ask:${string}`
  | `version:${number}`;

export const LIST_TOPICS = ["tools", "prompts", "resources"] as const satisfies readonly Topic[];

/** Topics by slug, and by `serverKey` beyond the subscriber. Plain data. */
export type Interests = Readonly<Record<string, readonly Topic[]>>;

/** Something has changed at a server. */
export interface News {
  /** The `serverKey`, of which every feed has its own, the `vaultKey`, or `SERVERS_KEY`. */
  readonly slug: string;
  /** Grows with each change at a server, across restarts too. */
  readonly seq: number;
  readonly topics: readonly Topic[];
}

/** Why the gateway looks at a server by itself: it has started, an operator's page lists it, or they pressed the button. */
export type LookReason = "start" | "page" | "button";

/** The gateway's knowledge of one upstream, shared by all users or of one account (`serverKey`). */
export interface Feed {
  catalog(question: CatalogQuestion): Promise<CatalogAnswer>;
  /**
   * Changes the topics that a branch of the fan-out watches.
   *
   * @returns the topics of `add` whose changes the server will announce.
   */
  watch(branch: number, change: TopicChange): Promise<readonly Topic[]>;
  /** A caller reports that the server is unavailable (`trouble`), or available again. */
  report(trouble: Trouble | undefined): Promise<void>;
  /** The server has told one client alone, in the client's own session, that these lists have changed. */
  outdated(lists: readonly Topic[]): Promise<void>;
  /** A list was given out without its answer: it tells whoever listens that the lists may be others. */
  announce(): Promise<void>;
  health(): Promise<ServerHealth>;
  /** The same, after a look at the server where one is due. */
  look(reason: LookReason): Promise<ServerHealth>;
  /** All that is known of it, without asking the server. */
  describe(): Promise<ServerReport>;
  /** The known part of the catalog about resources (`resourcesOf`), without asking the server. */
  resources(): Promise<Catalog | undefined>;
}

export interface TopicChange {
  readonly add: readonly Topic[];
  readonly remove: readonly Topic[];
  /** Subscribers were promised what is added before it could be asked for: they may have missed changes. */
  readonly isLate?: boolean;
  /** Subscribers were granted what is added before: a resource whose server cannot be asked stays promised. */
  readonly isRenewed?: boolean;
}

export interface Feeds {
  /**
   * @param key of the server (`serverKey`).
   * @returns the feed, for one call.
   */
  of(key: string): Feed;
}

/** What announces changes: a feed, a vault whose accounts change, or the registry, for the servers. */
type NewsSource = Pick<Feed, "watch">;

export interface NewsSources {
  /** @param key of a server or a vault (`serverKey`, `vaultKey`), or `SERVERS_KEY`. */
  of(key: string): NewsSource;
}

/** The branches of the fan-out: each sends all servers' changes to a share of the listeners. */
export interface FanOut {
  /** Connects a modern listener to its branch. The caller closes the socket. */
  listen(interests: Interests): Promise<NewsSocket>;
}

export interface NewsSocket {
  /** The topics whose changes the servers will announce. */
  readonly honoured: Interests;
  /** @returns `undefined` when the connection is broken: changes in the meantime are lost. */
  next(): Promise<News | undefined>;
  close(): void;
}
