/**
 * Carries what has changed to the branches that want to know of it. What changes often is told once
 * in a while; each branch has its own pace and its own trouble, and what waits for it is a set of
 * topics, however much has happened.
 */

import { settleWithin } from "../../lib/time-out.ts";
import type { News, Topic } from "../../catalog/feeds.ts";
import { isListTopic, type ListTopic } from "../../catalog/topics.ts";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 30_000;
/** A branch that says nothing for this long has failed. */
const PATIENCE_MS = 30_000;
/** Each list is told of so often at most: everybody who hears of it reads all of it again. */
const LIST_PAUSE_MS = 1000;

export interface PublisherOptions {
  readonly slug: string;
  /** How long what has changed is collected before it is told, in milliseconds. */
  readonly collectMs: number;
  readonly wanted: {
    has(topic: Topic): boolean;
    branchesOf(topic: Topic): Iterable<number>;
    isWantedBy(branch: number, topic: Topic): boolean;
  };
  /** The next number for news. */
  readonly nextSeq: () => number;
  /** Rejects when the branch cannot be had. */
  readonly publish: (branch: number, news: News) => Promise<void>;
  /** Called before anybody is told. */
  readonly outdated: (lists: readonly ListTopic[]) => void;
  readonly now: () => number;
}

/** What a branch is still to be told. */
interface Line {
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
  /** When each was told of last. */
  readonly #listsToldAt = new Map<ListTopic, number>();
  readonly #outdated = new Set<ListTopic>();
  readonly #lines = new Map<number, Line>();
  #flushedAt = -Infinity;
  #timer: number | null = null;
  #timerAt = Infinity;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /**
   * Whoever wants to know of these topics is told.
   *
   * @param outdated what is known of these is no longer good, whoever wants to hear of it.
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

  /** The branch does not want to hear of it any more. */
  forget(branch: number, topic: Topic): void {
    const line = this.#lines.get(branch);
    if (line === undefined) return;
    line.due.delete(topic);
    // What is being sent cannot be taken back, but need not be sent again.
    if (line.timer !== null) this.#prune(branch, line);
    this.#dropIfIdle(branch, line);
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

  /** Until there is something to be told; `Infinity` without anything. */
  #leftMs(): number {
    const collectMs = this.#restOf(this.#options.collectMs, this.#flushedAt);
    if (this.#due.size + this.#outdated.size > 0) return collectMs;
    let leftMs = Infinity;
    for (const list of this.#dueLists) leftMs = Math.min(leftMs, this.#listMs(list));
    return Math.max(leftMs, collectMs);
  }

  #listMs(list: ListTopic): number {
    return this.#restOf(LIST_PAUSE_MS, this.#listsToldAt.get(list) ?? -Infinity);
  }

  /** Of a pause that began at some time. It is over if the clock was set back. */
  #restOf(pauseMs: number, since: number): number {
    const passedMs = this.#options.now() - since;
    return passedMs < 0 ? 0 : Math.max(0, pauseMs - passedMs);
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
      this.#listsToldAt.set(list, this.#flushedAt);
    }
    if (lists.length > 0) outdated(lists);
    const touched = new Set<number>();
    for (const topic of topics) {
      for (const branch of wanted.branchesOf(topic)) {
        this.#lineOf(branch).due.add(topic);
        touched.add(branch);
      }
    }
    for (const branch of touched) void this.#send(branch, this.#lineOf(branch));
    if (this.#dueLists.size > 0) this.#flushSoon();
  }

  #lineOf(branch: number): Line {
    const found = this.#lines.get(branch);
    if (found !== undefined) return found;
    const line: Line = { due: new Set(), news: undefined, isBusy: false, failures: 0, timer: null };
    this.#lines.set(branch, line);
    return line;
  }

  /** One at a time, and while a branch fails not before its pause is over. */
  async #send(branch: number, line: Line): Promise<void> {
    if (line.isBusy || line.timer !== null) return;
    line.isBusy = true;
    while ((line.news ??= this.#nextNews(line)) !== undefined) {
      const isTaken = await this.#publish(branch, line.news);
      if (!isTaken) {
        this.#pause(branch, line);
        break;
      }
      line.news = undefined;
      line.failures = 0;
    }
    line.isBusy = false;
    this.#dropIfIdle(branch, line);
  }

  #nextNews(line: Line): News | undefined {
    if (line.due.size === 0) return undefined;
    const { slug, nextSeq } = this.#options;
    const news: News = { slug, seq: nextSeq(), topics: [...line.due] };
    line.due.clear();
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

  /** The same piece of news goes again, under its number: who has had it knows it by that. */
  #pause(branch: number, line: Line): void {
    this.#prune(branch, line);
    if (line.news === undefined && line.due.size === 0) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** line.failures, MAX_PAUSE_MS);
    line.failures += 1;
    line.timer = setTimeout(() => {
      line.timer = null;
      void this.#send(branch, line);
    }, pauseMs);
  }

  /** Takes out of what is to be sent again what is not wanted any more. */
  #prune(branch: number, line: Line): void {
    if (line.news === undefined) return;
    const { wanted } = this.#options;
    const topics = line.news.topics.filter((topic) => wanted.isWantedBy(branch, topic));
    line.news = topics.length === 0 ? undefined : { ...line.news, topics };
  }

  #dropIfIdle(branch: number, line: Line): void {
    if (line.isBusy || line.news !== undefined || line.due.size > 0) return;
    clearTimeout(line.timer);
    this.#lines.delete(branch);
  }
}
