/**
 * Delivers news to the legacy sessions. Each gets one call at a time, so that the news of a server
 * arrives in order, and drops by number what it has had. No session waits for another: news for a
 * session that cannot be reached, or is still busy, waits in `late-news.ts`.
 *
 * News is delivered at least once: news that an earlier life of the branch may have delivered is
 * delivered again, piece by piece, under the same numbers.
 */

import type { News } from "../../catalog/feeds.ts";
import type { Deadlines } from "../../lib/deadlines.ts";
import { Outbox } from "../../lib/outbox.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import type { AcceptedNews, Range } from "./accepted-news.ts";
import { DELIVERY_MS, type LateNews } from "./late-news.ts";

/**
 * The answer of a session to a delivery: it has the news; there is no such session; or its client has
 * been away for long, and deliveries are to stop until the session subscribes anew.
 */
export type DeliveryAnswer = "taken" | "gone" | "offline";

export interface Recipients {
  /**
   * News of a server arrives in order of `seq`, in one call at a time. News whose number is not above
   * the highest that the session has had is a repetition. After a rejection the same news is
   * delivered again.
   */
  deliver(session: string, news: News): Promise<DeliveryAnswer>;
}

export interface DeliveryParts {
  readonly acceptedNews: AcceptedNews;
  readonly lateNews: LateNews;
  readonly recipients: Recipients;
  readonly deadlines: Deadlines;
  readonly now: () => number;
  readonly scheduleAlarm: (at: number) => void;
  /** Keeps the Durable Object awake. */
  readonly keep: (work: Promise<void>) => void;
  /** Called when there is no such session any more, or it sleeps without a reader. */
  readonly onGone: (session: string) => void;
}

/** A number below all numbers of news. */
const NOTHING = -1;
const MIN_PAUSE_MS = 1000;
/** Time without progress after which the sessions being called count as stuck. */
const STUCK_MS = 1500;
const AT_ONCE = 100;
const PAGE = 100;

/** One range of news on its way through the sessions. */
interface Round {
  readonly range: Range;
  underWay: number;
  isSent: boolean;
}

export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #slots: Semaphore;
  readonly #outbox: Outbox<string, News>;
  /** Sessions that subscribed while they were called, so that the answer of the call is out of date. */
  readonly #renewed = new Set<string>();
  readonly #running = new Set<string>();
  /** The highest number of each server's news that this life has delivered. */
  readonly #passed = new Map<string, number>();
  /** The highest number that an earlier life may have delivered. */
  readonly #earlier: ReadonlyMap<string, number>;
  /** Servers whose earlier news is not on its way again yet. */
  readonly #resuming: Set<string>;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    const { acceptedNews, lateNews, deadlines } = parts;
    this.#slots = new Semaphore({ count: AT_ONCE, stuck: { afterMs: STUCK_MS, deadlines } });
    this.#outbox = new Outbox({
      rows: lateNews,
      deliver: (session, news) => this.#deliver(session, news),
      place: async () => this.#slots.take(),
      onFailed: () => this.#scheduleRetry(),
    });
    this.#earlier = acceptedNews.newest();
    this.#resuming = new Set(this.#earlier.keys());
    for (const slug of this.#earlier.keys()) this.start(slug);
    this.retry();
  }

  /** Delivers the pending news of a server. */
  start(slug: string): void {
    if (this.#running.has(slug)) return;
    this.#running.add(slug);
    this.#parts.keep(this.#run(slug));
  }

  /**
   * Starts the retries that are due. News that an earlier life queued for a session may follow news
   * that it was still delivering: that goes first.
   */
  retry(): void {
    if (this.#resuming.size === 0) this.#parts.keep(this.#outbox.deliverDue());
  }

  /** The session subscribes, so it can be reached. */
  renewed(session: string): void {
    const { lateNews, now, scheduleAlarm } = this.#parts;
    if (this.#outbox.isBusy(session)) this.#renewed.add(session);
    else if (lateNews.revive(session)) scheduleAlarm(now() + MIN_PAUSE_MS);
  }

  async #run(slug: string): Promise<void> {
    try {
      for (let range = this.#next(slug); range !== undefined; range = this.#next(slug)) {
        this.#passed.set(slug, range.upTo);
        await this.#send({ range, underWay: 0, isSent: false });
        if (range.upTo >= (this.#earlier.get(slug) ?? NOTHING)) this.#resumed(slug);
      }
    } finally {
      this.#running.delete(slug);
      this.#resumed(slug);
    }
  }

  #resumed(slug: string): void {
    if (this.#resuming.delete(slug)) this.retry();
  }

  /**
   * News that arrived in sequence is delivered together. But where an earlier life may have delivered
   * some of it, each piece is delivered by itself, so that a session can drop those it has had.
   */
  #next(slug: string): Range | undefined {
    const above = this.#passed.get(slug) ?? NOTHING;
    const ends = this.#parts.acceptedNews.ends(slug, above);
    if (ends === undefined) return undefined;
    const { first, last } = ends;
    return { slug, above, upTo: first <= (this.#earlier.get(slug) ?? NOTHING) ? first : last };
  }

  async #send(round: Round): Promise<void> {
    const { acceptedNews } = this.#parts;
    let after = "";
    for (;;) {
      const sessions = acceptedNews.sessions(round.range, after, PAGE);
      for (const session of sessions) await this.#sendTo(session, round);
      if (sessions.length < PAGE) break;
      after = sessions.at(-1) ?? after;
    }
    round.isSent = true;
    this.#endIfOver(round);
  }

  /** Waits for a free slot at most, never for the session. */
  async #sendTo(session: string, round: Round): Promise<void> {
    const { acceptedNews, lateNews, now, keep, scheduleAlarm } = this.#parts;
    const isBusy = (): boolean => this.#outbox.isBusy(session) || lateNews.has(session);
    const release = isBusy() ? undefined : await this.#slots.take();
    // The session may have unsubscribed, or subscribed to more, while others were called.
    const news = acceptedNews.of(session, round.range);
    if (news !== undefined && release !== undefined && !isBusy()) {
      round.underWay += 1;
      lateNews.offer(session, news, () => {
        round.underWay -= 1;
        this.#endIfOver(round);
      });
      keep(this.#outbox.deliverTo(session).finally(release));
      return;
    }
    release?.();
    if (news === undefined) return;
    lateNews.append(session, news, now() + DELIVERY_MS);
    scheduleAlarm(now() + DELIVERY_MS);
  }

  #endIfOver(round: Round): void {
    if (round.isSent && round.underWay === 0) this.#parts.acceptedNews.done(round.range);
  }

  /** An overdue session waits for a slot, and not for the alarm. */
  #scheduleRetry(): void {
    const { lateNews, now, scheduleAlarm } = this.#parts;
    const next = lateNews.soonest();
    if (next !== undefined) scheduleAlarm(Math.max(next, now() + MIN_PAUSE_MS));
  }

  /** @returns `false` when it failed, and must be repeated if the session is still subscribed. */
  async #deliver(session: string, news: News): Promise<boolean> {
    const { recipients, deadlines, onGone } = this.#parts;
    const delivered = recipients.deliver(session, news);
    const answer = await deadlines.within(delivered, DELIVERY_MS).catch(() => undefined);
    const isRenewed = this.#renewed.delete(session);
    if (answer === "taken") return true;
    if (answer !== undefined && !isRenewed) onGone(session);
    return false;
  }
}
