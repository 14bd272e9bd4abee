/**
 * Publishes changes to the branches that subscribed to them. Frequent changes are collected and sent
 * together. Each branch has its own queue and its own failures; its queue is a set of topics, so it does
 * not grow with the number of changes.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { News, Topic } from "../../catalog/feeds.ts";
import { isListTopic, type ListTopic } from "../../catalog/topics.ts";

const BACKOFF: Backoff = { firstMs: 100, maxMs: 30_000 };
/** A branch that does not answer for this long has failed. */
const PATIENCE_MS = 30_000;
/** The shortest interval between two announcements of a list: each subscriber reads all of it again. */
const LIST_PAUSE_MS = 1000;

export interface PublisherOptions {
  readonly slug: string;
  /** Time for which changes are collected before they are sent, in milliseconds. */
  readonly collectMs: number;
  readonly wanted: {
    has(topic: Topic): boolean;
    branchesOf(topic: Topic): Iterable<number>;
    isWantedBy(branch: number, topic: Topic): boolean;
  };
  /** The next number for news. */
  readonly nextSeq: () => number;
  /** Rejects when the branch cannot be reached. */
  readonly publish: (branch: number, news: News) => Promise<void>;
  /** Called before any branch receives the news. */
  readonly outdated: (lists: readonly ListTopic[]) => void;
  readonly now: () => number;
}

/** The news that a branch has not taken yet. */
interface BranchQueue {
  readonly due: Set<Topic>;
  /** Being sent, or to be sent again as it was: a branch may have it already. */
  news: News | undefined;
  isBusy: boolean;
  failures: number;
  timer: number | null;
}

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #due = new Set<Topic>();
  readonly #dueLists = new Set<ListTopic>();
  /** The time of the last announcement of each list. */
  readonly #listsAnnouncedAt = new Map<ListTopic, number>();
  readonly #outdated = new Set<ListTopic>();
  readonly #queues = new Map<number, BranchQueue>();
  #flushedAt = -Infinity;
  #timer: number | null = null;
  #timerAt = Infinity;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /**
   * Announces these topics to the branches that subscribed to them.
   *
   * @param outdated lists whose cached content is no longer valid, whether or not a branch subscribed.
   */
  tell(topics: readonly Topic[], outdated: readonly ListTopic[] = []): void {
    const { wanted } = this.#options;
    for (const list of outdated) this.#outdated.add(list);
    for (const topic of topics) {
      if (!wanted.has(topic)) continue;
      if (isListTopic(topic)) this.#dueLists.add(topic);
      else this.#due.add(topic);
    }
    this.#flushSoon();
  }

  /** The branch has unsubscribed from the topic. */
  forget(branch: number, topic: Topic): void {
    const queue = this.#queues.get(branch);
    if (queue === undefined) return;
    queue.due.delete(topic);
    // News that is being sent cannot be taken back, but it need not be sent again.
    if (queue.timer !== null) this.#prune(branch, queue);
    this.#dropIfIdle(branch, queue);
  }

  #flushSoon(): void {
    const leftMs = this.#leftMs();
    if (leftMs <= 0) {
      this.#flush();
      return;
    }
    const at = this.#options.now() + leftMs;
    if (leftMs === Infinity || (this.#timer !== null && this.#timerAt <= at)) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#flushSoon();
    }, leftMs);
  }

  /** @returns the milliseconds until there is something to send; `Infinity` when nothing waits. */
  #leftMs(): number {
    const collectMs = this.#restOf(this.#options.collectMs, this.#flushedAt);
    if (this.#due.size + this.#outdated.size > 0) return collectMs;
    let leftMs = Infinity;
    for (const list of this.#dueLists) leftMs = Math.min(leftMs, this.#listMs(list));
    return Math.max(leftMs, collectMs);
  }

  #listMs(list: ListTopic): number {
    return this.#restOf(LIST_PAUSE_MS, this.#listsAnnouncedAt.get(list) ?? -Infinity);
  }

  /** @returns the rest of an interval, in milliseconds; 0 if the clock was set back. */
  #restOf(intervalMs: number, since: number): number {
    const passedMs = this.#options.now() - since;
    return passedMs < 0 ? 0 : Math.max(0, intervalMs - passedMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = null;
    const { now, wanted, outdated } = this.#options;
    this.#flushedAt = now();
    const ready = [...this.#dueLists].filter((list) => this.#listMs(list) === 0);
    const [lists, topics] = [[...this.#outdated], [...ready, ...this.#due]];
    this.#outdated.clear();
    this.#due.clear();
    for (const list of ready) {
      this.#dueLists.delete(list);
      this.#listsAnnouncedAt.set(list, this.#flushedAt);
    }
    if (lists.length > 0) outdated(lists);
    const touched = new Set<number>();
    for (const topic of topics) {
      for (const branch of wanted.branchesOf(topic)) {
        this.#queueOf(branch).due.add(topic);
        touched.add(branch);
      }
    }
    for (const branch of touched) void this.#send(branch, this.#queueOf(branch));
    if (this.#dueLists.size > 0) this.#flushSoon();
  }

  #queueOf(branch: number): BranchQueue {
    const found = this.#queues.get(branch);
    if (found !== undefined) return found;
    const queue: BranchQueue = {
      due: new Set(),
      news: undefined,
      isBusy: false,
      failures: 0,
      timer: null,
    };
    this.#queues.set(branch, queue);
    return queue;
  }

  /** Sends one piece of news at a time, and to a failing branch only after its pause. */
  async #send(branch: number, queue: BranchQueue): Promise<void> {
    if (queue.isBusy || queue.timer !== null) return;
    queue.isBusy = true;
    while ((queue.news ??= this.#nextNews(queue)) !== undefined) {
      const isTaken = await this.#publish(branch, queue.news);
      if (!isTaken) {
        this.#pause(branch, queue);
        break;
      }
      queue.news = undefined;
      queue.failures = 0;
    }
    queue.isBusy = false;
    this.#dropIfIdle(branch, queue);
  }

  #nextNews(queue: BranchQueue): News | undefined {
    if (queue.due.size === 0) return undefined;
    const { slug, nextSeq } = this.#options;
    const news: News = { slug, seq: nextSeq(), topics: [...queue.due] };
    queue.due.clear();
    return news;
  }

  async #publish(branch: number, news: News): Promise<boolean> {
    const publish = async (): Promise<true> => {
      await this.#options.publish(branch, news);
      return true;
    };
    return (
      (await settleWithin(
        publish().catch(() => false),
        PATIENCE_MS,
      )) === true
    );
  }

  /** The same news is sent again under its number, by which a branch that has it recognizes it. */
  #pause(branch: number, queue: BranchQueue): void {
    this.#prune(branch, queue);
    if (queue.news === undefined && queue.due.size === 0) return;
    const ms = pauseMs(BACKOFF, queue.failures);
    queue.failures += 1;
    queue.timer = setTimeout(() => {
      queue.timer = null;
      void this.#send(branch, queue);
    }, ms);
  }

  /** Removes topics that the branch no longer wants from the news to be sent again. */
  #prune(branch: number, queue: BranchQueue): void {
    if (queue.news === undefined) return;
    const { wanted } = this.#options;
    const topics = queue.news.topics.filter((topic) => wanted.isWantedBy(branch, topic));
    queue.news = topics.length === 0 ? undefined : { ...queue.news, topics };
  }

  #dropIfIdle(branch: number, queue: BranchQueue): void {
    if (queue.isBusy || queue.news !== undefined || queue.due.size > 0) return;
    clearTimeout(queue.timer);
    this.#queues.delete(branch);
  }
}
