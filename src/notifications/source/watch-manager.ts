/**
 * The branches' interests in one server, and the one watch on it that they share. The watch runs while
 * any topic is asked for or promised. Interests are stored, so that no branch has to ask again when the
 * Durable Object has lost its memory; changes in between are unknown then, and every promised topic is
 * announced as changed.
 */

import type { Sql } from "../../lib/sql.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { Limits } from "../../policy/limits.ts";
import type { UsableCredential } from "../../upstream/credentials.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { LIST_TOPICS, type News, type Topic, type TopicChange } from "../../catalog/feeds.ts";
import { NewsNumbers, Publisher } from "./publisher.ts";
import { MAX_URI_CHARS, MAX_URIS_CHARS, TopicInterest, wantedUriOf } from "./topic-interest.ts";
import { isListTopic, type ListTopic, uriOf, topicOf } from "../../catalog/topics.ts";
import type { OpenWatch, WatchEvents } from "./watch-port.ts";
import { openWatch, ServerWatch } from "./server-watch.ts";

/** The longest wait of a branch for the server to be reached. */
const REACHED_WITHIN_MS = 2000;
/** The longest wait for its answers after that; ten thousand resources take a legacy server a while. */
const ANSWERED_WITHIN_MS = 10_000;
/** The share of one branch in the resources that a server is watched for. */
const BRANCH_SHARE = 1 / 4;

/** The callbacks of the Durable Object that holds the watch manager. */
interface WatchManagerEvents {
  /** Delivers news to a branch. Rejects when the branch cannot be reached; it is tried again. */
  readonly publish: (branch: number, news: News) => Promise<void>;
  /**
   * Called before any branch receives the news: the cached content of these lists is outdated.
   *
   * @param isAnnounced the subscribers are told. Else nobody was promised these lists until now, and whoever was given
   *   them before is told when a reading finds a change.
   */
  readonly outdated: (topics: readonly Topic[], isAnnounced: boolean) => void;
  /** Called when every branch has received everything. */
  readonly sent?: () => void;
}

export interface WatchManagerOptions {
  readonly target: UpstreamTarget;
  readonly sql: Sql;
  readonly limits: Pick<Limits, "subscribedUrisPerServer" | "newsMilliseconds">;
  readonly events: WatchManagerEvents;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Opens a watch; in the server's own era if omitted. */
  readonly open?: (uris: ReadonlySet<string>, events: WatchEvents) => Promise<OpenWatch>;
}

export class WatchManager {
  readonly #maxUris: number;
  readonly #wanted: TopicInterest;
  readonly #publisher: Publisher;
  readonly #watch: ServerWatch;
  /** The number of requests that wait for the server's answer, by branch and topic. */
  readonly #asking = new Map<string, number>();
  /** The lists of which everybody who was promised them knows that the server does not announce them now. */
  readonly #unannounced = new Set<ListTopic>();
  #isOver = false;

  /** Starts the watch if any topic is wanted. */
  constructor({ target, sql, limits, events, now, open }: WatchManagerOptions) {
    this.#maxUris = limits.subscribedUrisPerServer;
    const wanted = new TopicInterest(sql);
    this.#wanted = wanted;
    const numbers = new NewsNumbers(sql, now);
    this.#publisher = new Publisher({
      slug: target.slug,
      collectMs: limits.newsMilliseconds,
      wanted,
      now,
      nextSeq: () => numbers.next(),
      publish: events.publish,
      outdated: events.outdated,
      sent: () => events.sent?.(),
    });
    const request = { target, uris: wanted.uris };
    this.#watch = new ServerWatch({
      open: (watchEvents) => open?.(wanted.uris, watchEvents) ?? openWatch(request, watchEvents),
      now,
      random: Math.random,
      events: {
        changed: (list) => this.#publisher.announce([list], [list]),
        outdated: (list) => this.#publisher.outdate(list),
        updated: (uri) => this.#updated(uri),
        answered: (topics) => this.#answered(topics),
        missed: () => this.#missed(),
      },
    });
    this.wake();
  }

  /**
   * Changes the topics of a branch. Waits two seconds for a server that cannot be reached: then its
   * lists are promised, since the gateway itself announces them when the server is back, and those
   * resources that any branch was promised before, or its subscribers were granted. Lists that the server
   * does not announce stay wanted until they are removed: the gateway announces the changes it finds out
   * itself (`announce`).
   *
   * @returns those of `add` that will be announced.
   * @throws Error when the manager has ended, if only meanwhile: another may have the server now, and is to be asked.
   */
  async watch(branch: number, change: TopicChange): Promise<readonly Topic[]> {
    this.#assertGoesOn();
    const { add, remove, isLate, isRenewed } = change;
    for (const topic of remove) this.#remove(branch, topic);
    const asked: Topic[] = [];
    const missed = new Set<Topic>();
    for (const topic of new Set(add)) {
      if (!this.#isTaken(branch, topic)) continue;
      if (isLate === true && !this.#wanted.isWantedBy(branch, topic)) missed.add(topic);
      this.#wanted.ask(branch, topic);
      this.#countAsking(branch, topic, 1);
      asked.push(topic);
    }
    this.#follow([...remove, ...asked]);
    if (asked.length === 0) return [];
    this.#watch.openEarly();
    await this.#answers(asked);
    this.#assertGoesOn();
    const isGranted = isLate === true || isRenewed === true;
    const promised = asked.filter((topic) => this.#conclude(branch, topic, isGranted));
    this.#follow(asked);
    this.#publisher.announceTo(
      branch,
      promised.filter((topic) => missed.has(topic)),
    );
    return promised;
  }

  /** @returns whether the server would announce a change: the watch is open, and the server promised to. */
  covers(topic: Topic): boolean {
    return this.#watch.isReceiving && this.#watch.verdict(topic) === "announced";
  }

  /** Announces these topics to the branches that want them. */
  announce(topics: readonly Topic[]): void {
    this.#publisher.announce(topics);
  }

  /** The number of topics the server is watched for, or is to be. */
  get wantedCount(): number {
    return this.#wanted.countAtStake;
  }

  /** Any branch wants any list, if only for the changes that the gateway finds out itself. */
  get isWanted(): boolean {
    return LIST_TOPICS.some((list) => this.#wanted.has(list));
  }

  get isWatching(): boolean {
    return this.#watch.isReceiving;
  }

  /** To be called when the alarm fires: opens the watch again if it is not running. */
  wake(): void {
    if (this.#wanted.countAtStake === 0) return;
    this.#watch.start();
    this.#watch.retry();
  }

  /**
   * The server is configured in another way, or is gone, or its account has ended: nothing is watched, stored
   * or announced any more.
   *
   * @param last the credential of the watch, when its account has ended.
   */
  async end(last?: UsableCredential): Promise<void> {
    this.#isOver = true;
    this.#publisher.end();
    await this.#watch.end(last);
  }

  #assertGoesOn(): void {
    if (this.#isOver) throw new Error("The watch has ended");
  }

  #isTaken(branch: number, topic: Topic): boolean {
    const uri = uriOf(topic);
    if (uri === undefined || this.#wanted.isWantedBy(branch, topic)) return true;
    // The resources of one branch leave room for those of the others.
    if (this.#wanted.uriCountOf(branch) >= this.#maxUris * BRANCH_SHARE) return false;
    if (this.#wanted.has(topic)) return true;
    const { uris, uriChars } = this.#wanted;
    if (uri.length > MAX_URI_CHARS || uriChars + uri.length > MAX_URIS_CHARS) return false;
    return uris.size < this.#maxUris;
  }

  #remove(branch: number, topic: Topic): void {
    if (this.#wanted.remove(branch, topic)) this.#publisher.forget(branch, topic);
  }

  /** @param topics that a branch has begun to want, or no longer wants. */
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
    if (this.#watch.isOpen) await this.#settleWithin(ANSWERED_WITHIN_MS, topics, waiting);
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
      while (!waiting.isOver && topics.some(isPending)) await this.#watch.progress;
    };
    await settleWithin(settled(), ms);
  }

  /** @returns the number of requests that wait now. */
  #countAsking(branch: number, topic: Topic, by: 1 | -1): number {
    const key = `${branch} ${topic}`;
    const count = (this.#asking.get(key) ?? 0) + by;
    if (count === 0) this.#asking.delete(key);
    else this.#asking.set(key, count);
    return count;
  }

  /** @returns whether the branch is promised the topic. */
  #conclude(branch: number, topic: Topic, isGranted: boolean): boolean {
    const isLast = this.#countAsking(branch, topic, -1) === 0;
    if (!this.#wanted.isWantedBy(branch, topic)) return false; // removed meanwhile
    const isPromised = this.#canPromise(topic, isGranted);
    if (isPromised && isListTopic(topic)) this.#unannounced.delete(topic);
    // What the server refuses now stays promised to the other subscribers of the branch.
    if (!isPromised && this.#wanted.isPromisedTo(branch, topic)) return false;
    if (isPromised) this.#wanted.answer(branch, topic, "promised");
    else if (isListTopic(topic)) this.#wanted.answer(branch, topic, "unpromised");
    else if (isLast) this.#remove(branch, topic);
    return isPromised;
  }

  #canPromise(topic: Topic, isGranted: boolean): boolean {
    const verdict = this.#watch.verdict(topic);
    if (verdict === "announced" || verdict === "unannounced") return verdict === "announced";
    if (isListTopic(topic)) return !this.#watch.isOpen || this.#wanted.isPromised(topic);
    return isGranted || this.#wanted.isPromised(topic);
  }

  #updated(uri: string): void {
    const wanted = wantedUriOf(uri, this.#wanted.uris);
    if (wanted !== undefined) this.#publisher.announce([topicOf(wanted)]);
  }

  /**
   * Branches that were promised these topics have had no news of them since the last watch was lost. What the
   * server refuses now stays promised: it is asked again, and what it accepts then is announced. It may have given
   * one odd answer while it was restarted.
   */
  #answered(topics: readonly Topic[]): void {
    const lists = topics.filter(isListTopic);
    const isAnnounced = (topic: Topic): boolean => this.#watch.verdict(topic) === "announced";
    const isNewlyRefused = (topic: Topic): boolean =>
      isListTopic(topic) && !this.#unannounced.has(topic);
    const missed = topics.filter((topic) => isAnnounced(topic) || isNewlyRefused(topic));
    for (const list of lists) {
      if (isAnnounced(list)) this.#unannounced.delete(list);
      else this.#unannounced.add(list);
    }
    this.#publisher.announce(
      missed.filter((topic) => this.#wanted.isPromised(topic)),
      lists.filter(isAnnounced),
    );
  }

  #missed(): void {
    const outdated = LIST_TOPICS.filter((list) => this.covers(list));
    this.#publisher.announce(this.#wanted.promised(), outdated);
  }
}
