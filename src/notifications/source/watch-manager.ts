/**
 * Who wants to hear of one server, and the one watch on it that they share. The watch runs while
 * anybody was promised anything. What is wanted is on record, so that nobody has to ask again when
 * the desk's holder has lost its memory; what changed meanwhile is not known then, and everything
 * that was promised is told as changed.
 */

import type { Sql } from "../../lib/sql.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { Limits } from "../../policy/limits.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { CLIENT_INFO } from "../../protocol/gateway-info.ts";
import { LIST_TOPICS, type News, type Topic, type TopicChange } from "../../catalog/feeds.ts";
import { NewsNumbers } from "./news-numbers.ts";
import { Publisher } from "./publisher.ts";
import { MAX_URI_CHARS, MAX_URIS_CHARS, wantedUriOf } from "./wanted-uri.ts";
import { TopicInterest } from "./topic-interest.ts";
import { openWatch } from "./watch-open.ts";
import { isListTopic, uriOf, topicOf } from "../../catalog/topics.ts";
import type { OpenWatch, WatchEvents } from "./watch-port.ts";
import { Watch } from "./server-watch.ts";

/** How long somebody who wants to hear of a server waits for it to be reached. */
const REACHED_WITHIN_MS = 2000;
/** And, where it was, for its answers; ten thousand resources take a legacy server a while. */
const ANSWERED_WITHIN_MS = 10_000;
/** Of the resources that a server is watched for. */
const BRANCH_SHARE = 1 / 4;

/** What a feed's holder gives to its desk. */
interface NewsDeskEvents {
  /**
   * Hands a branch its news. Rejects when it cannot be had: it is tried again.
   */
  readonly publish: (branch: number, news: News) => Promise<void>;
  /** Called before anybody is told: what is known of these lists is no longer good. */
  readonly outdated: (topics: readonly Topic[]) => void;
}

/** What the holder asks of it. */
export interface ManagedWatch {
  watch(branch: number, change: TopicChange): Promise<readonly Topic[]>;
  /** Whether the server would tell if this changed: the watch stands, and it promised to. */
  covers(topic: Topic): boolean;
  /** Tells whoever wants to know of these topics. */
  announce(topics: readonly Topic[]): void;
  /** How many topics the server is watched for, or is to be. */
  readonly wantedCount: number;
  /** Whether anybody wants to hear of anything, if only of what the gateway finds out itself. */
  readonly isWanted: boolean;
  readonly isWatching: boolean;
  /** To be called when the alarm rings: brings back a watch that is not there. */
  wake(): void;
}

export interface WatchManagerOptions {
  readonly target: UpstreamTarget;
  readonly sql: Sql;
  readonly limits: Pick<Limits, "subscribedUrisPerServer" | "newsMilliseconds">;
  readonly events: NewsDeskEvents;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Who watches, as the server is told; the gateway, if not said. */
  readonly clientInfo?: JsonObject;
  /** Opens a watch; in the era that the server is of, if not said. */
  readonly open?: (uris: ReadonlySet<string>, events: WatchEvents) => Promise<OpenWatch>;
}

export class WatchManager implements ManagedWatch {
  readonly #maxUris: number;
  readonly #wanted: TopicInterest;
  readonly #publisher: Publisher;
  readonly #watch: Watch;
  /** How many wait for the server's answer on a topic, by branch and topic. */
  readonly #asking = new Map<string, number>();

  /** Begins to watch, if anything is wanted. */
  constructor({ target, sql, limits, events, now, clientInfo, open }: WatchManagerOptions) {
    this.#maxUris = limits.subscribedUrisPerServer;
    const wanted = new TopicInterest(sql);
    this.#wanted = wanted;
    const numbers = new NewsNumbers(sql, now);
    this.#publisher = new Publisher({
      ...{ slug: target.slug, collectMs: limits.newsMilliseconds, wanted, now },
      nextSeq: () => numbers.next(),
      publish: events.publish,
      outdated: events.outdated,
    });
    const order = { target, clientInfo: clientInfo ?? CLIENT_INFO, uris: wanted.uris };
    this.#watch = new Watch({
      open: (heard) => open?.(wanted.uris, heard) ?? openWatch(order, heard),
      ...{ now, random: Math.random },
      events: {
        changed: (list) => this.#publisher.tell([list], [list]),
        updated: (uri) => this.#updated(uri),
        judged: (topics) => this.#judged(topics),
        missed: () => this.#missed(),
      },
    });
    this.wake();
  }

  /**
   * Makes these the topics that a branch wants to hear of. Waits for a server that is not to be
   * reached for two seconds: then its lists are promised, since the gateway itself tells when it is
   * back, and none of its resources that nobody was promised before. The lists of a server that
   * does not tell stay wanted until they are removed: what the gateway finds out of them itself
   * is told (`announce`).
   *
   * @returns those of `add` that will be told of.
   */
  async watch(branch: number, { add, remove }: TopicChange): Promise<readonly Topic[]> {
    for (const topic of remove) this.#remove(branch, topic);
    const asked: Topic[] = [];
    for (const topic of new Set(add)) {
      if (!this.#isTaken(branch, topic)) continue;
      this.#wanted.ask(branch, topic);
      this.#countAsking(branch, topic, 1);
      asked.push(topic);
    }
    this.#follow([...remove, ...asked]);
    if (asked.length === 0) return [];
    this.#watch.hurry();
    await this.#answers(asked);
    const promised = asked.filter((topic) => this.#conclude(branch, topic));
    this.#follow(asked);
    return promised;
  }

  covers(topic: Topic): boolean {
    return this.#watch.isHearing && this.#watch.verdict(topic) === "told";
  }

  announce(topics: readonly Topic[]): void {
    this.#publisher.tell(topics);
  }

  get wantedCount(): number {
    return this.#wanted.countAtStake;
  }

  get isWanted(): boolean {
    return this.#wanted.count > 0;
  }

  get isWatching(): boolean {
    return this.#watch.isHearing;
  }

  wake(): void {
    if (this.#wanted.countAtStake === 0) return;
    this.#watch.start();
    this.#watch.retry();
  }

  #isTaken(branch: number, topic: Topic): boolean {
    const uri = uriOf(topic);
    if (uri === undefined || this.#wanted.isWantedBy(branch, topic)) return true;
    // Those of one branch, whoever they are, leave room for the others.
    if (this.#wanted.uriCountOf(branch) >= this.#maxUris * BRANCH_SHARE) return false;
    if (this.#wanted.has(topic)) return true;
    const { uris, uriChars } = this.#wanted;
    if (uri.length > MAX_URI_CHARS || uriChars + uri.length > MAX_URIS_CHARS) return false;
    return uris.size < this.#maxUris;
  }

  #remove(branch: number, topic: Topic): void {
    if (this.#wanted.remove(branch, topic)) this.#publisher.forget(branch, topic);
  }

  /** @param topics that somebody began to want, or wants no more. */
  #follow(topics: readonly Topic[]): void {
    if (this.#wanted.countAtStake === 0) {
      this.#watch.stop();
      return;
    }
    this.#watch.start();
    const uris = topics.map(uriOf).filter((uri) => uri !== undefined);
    if (uris.length > 0) this.#watch.revise(uris);
  }

  async #answers(topics: readonly Topic[]): Promise<void> {
    const waiting = { isOver: false };
    await this.#settleWithin(REACHED_WITHIN_MS, topics, waiting);
    if (this.#watch.hasStood) await this.#settleWithin(ANSWERED_WITHIN_MS, topics, waiting);
    waiting.isOver = true;
  }

  async #settleWithin(
    ms: number,
    topics: readonly Topic[],
    waiting: { readonly isOver: boolean },
  ): Promise<void> {
    const isPending = (topic: Topic): boolean =>
      this.#wanted.has(topic) && this.#watch.verdict(topic) === "pending";
    if (!topics.some(isPending)) return;
    const settled = async (): Promise<void> => {
      while (!waiting.isOver && topics.some(isPending)) await this.#watch.moved;
    };
    await settleWithin(settled(), ms);
  }

  /** @returns how many are waiting now. */
  #countAsking(branch: number, topic: Topic, by: 1 | -1): number {
    const key = `${branch} ${topic}`;
    const count = (this.#asking.get(key) ?? 0) + by;
    if (count === 0) this.#asking.delete(key);
    else this.#asking.set(key, count);
    return count;
  }

  /** @returns whether the branch is promised the topic. */
  #conclude(branch: number, topic: Topic): boolean {
    const isLast = this.#countAsking(branch, topic, -1) === 0;
    if (!this.#wanted.isWantedBy(branch, topic)) return false; // removed meanwhile
    const isPromised = this.#isToBeTold(topic);
    if (isPromised) this.#wanted.answer(branch, topic, "promised");
    else if (isListTopic(topic)) this.#wanted.answer(branch, topic, "hearsay");
    else if (isLast) this.#remove(branch, topic);
    return isPromised;
  }

  #isToBeTold(topic: Topic): boolean {
    const verdict = this.#watch.verdict(topic);
    if (verdict === "told" || verdict === "untold") return verdict === "told";
    return (isListTopic(topic) && !this.#watch.hasStood) || this.#wanted.isPromised(topic);
  }

  #updated(uri: string): void {
    const wanted = wantedUriOf(uri, this.#wanted.uris);
    if (wanted !== undefined) this.#publisher.tell([topicOf(wanted)]);
  }

  /** Whoever was promised these before has not heard of them since the last watch was lost. */
  #judged(topics: readonly Topic[]): void {
    const lists = topics.filter(isListTopic);
    const isTold = (topic: Topic): boolean => this.#watch.verdict(topic) === "told";
    // A resource that the server refuses now is told of when it takes it again.
    const missed = topics.filter((topic) => isListTopic(topic) || isTold(topic));
    this.#publisher.tell(
      missed.filter((topic) => this.#wanted.isPromised(topic)),
      lists.filter(isTold),
    );
    const untold = lists.filter((list) => !isTold(list));
    for (const list of untold) this.#wanted.demote(list);
    // The watch may have no use any more, and is in the middle of saying so.
    if (untold.length > 0) queueMicrotask(() => this.#follow([]));
  }

  #missed(): void {
    const outdated = LIST_TOPICS.filter((list) => this.covers(list));
    this.#publisher.tell(this.#wanted.promised(), outdated);
  }
}
