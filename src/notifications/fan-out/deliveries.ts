/**
 * Delivers news to the legacy sessions. Each gets one call at a time, so that the news of a server
 * arrives in order, and drops by number what it has had. No session waits for another: news for a
 * session that cannot be reached, or is still busy, goes to `retry-queue.ts`.
 *
 * News is delivered at least once: news that an earlier life of the branch may have delivered is
 * delivered again, piece by piece, under the same numbers.
 */

import type { News } from "../../catalog/feeds.ts";
import type { Deadlines } from "../../lib/deadlines.ts";
import type { Outbox, Range } from "./outbox.ts";
import type { RetryQueue } from "./retry-queue.ts";
import { Semaphore } from "../../lib/semaphore.ts";

/**
 * The result of a delivery: the session has the news; there is no such session; or it has no reader,
 * and subscribes anew when it has one.
 */
export type Handed = "taken" | "gone" | "parked";

export interface Recipients {
  /**
   * News of a server arrives in order of `seq`, in one call at a time. News whose number is not above
   * the highest that the session has had is a repetition. After a rejection the same news is
   * delivered again.
   */
  deliver(session: string, news: News): Promise<Handed>;
}

export interface DeliveryParts {
  readonly outbox: Outbox;
  readonly retryQueue: RetryQueue;
  readonly recipients: Recipients;
  readonly deadlines: Deadlines;
  readonly handMs: number;
  readonly stuckMs: number;
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
const AT_ONCE = 100;
const PAGE = 100;

/** One range of news on its way through the sessions. */
interface Round {
  readonly range: Range;
  underWay: number;
  isSent: boolean;
}

/** A call of a session that is under way. */
interface Flight {
  /** The session subscribed meanwhile, so the answer of this call is out of date. */
  isRenewed: boolean;
}

export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #slots: Semaphore;
  readonly #flights = new Map<string, Flight>();
  readonly #running = new Set<string>();
  #isRetrying = false;
  /** The highest number of each server's news that this life has delivered. */
  readonly #passed = new Map<string, number>();
  /** The highest number that an earlier life may have delivered. */
  readonly #earlier: ReadonlyMap<string, number>;
  /** Servers whose earlier news is not on its way again yet. */
  readonly #resuming: Set<string>;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    const { stuckMs, deadlines } = parts;
    this.#slots = new Semaphore({ count: AT_ONCE, stuckMs, deadlines });
    this.#earlier = parts.outbox.newest();
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
    if (this.#isRetrying || this.#resuming.size > 0) return;
    this.#isRetrying = true;
    this.#parts.keep(this.#retry().finally(() => (this.#isRetrying = false)));
  }

  /** The session subscribes, so it can be reached. */
  renewed(session: string): void {
    const flight = this.#flights.get(session);
    if (flight !== undefined) flight.isRenewed = true;
    else if (this.#parts.retryQueue.revive(session))
      this.#parts.scheduleAlarm(this.#parts.now() + MIN_PAUSE_MS);
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
    const ends = this.#parts.outbox.ends(slug, above);
    if (ends === undefined) return undefined;
    const { first, last } = ends;
    return { slug, above, upTo: first <= (this.#earlier.get(slug) ?? NOTHING) ? first : last };
  }

  async #send(round: Round): Promise<void> {
    const { outbox } = this.#parts;
    let after = "";
    for (;;) {
      const sessions = outbox.sessions(round.range, after, PAGE);
      for (const session of sessions) await this.#sendTo(session, round);
      if (sessions.length < PAGE) break;
      after = sessions.at(-1) ?? after;
    }
    round.isSent = true;
    this.#endIfOver(round);
  }

  /** Waits for a free slot at most, never for the session. */
  async #sendTo(session: string, round: Round): Promise<void> {
    const { outbox, retryQueue, handMs, now } = this.#parts;
    const isBusy = (): boolean => this.#flights.has(session) || retryQueue.has(session);
    const release = isBusy() ? undefined : await this.#slots.take();
    // The session may have unsubscribed, or subscribed to more, while others were called.
    const news = outbox.of(session, round.range);
    if (news !== undefined && release !== undefined && !isBusy()) {
      round.underWay += 1;
      const served = this.#serve(session, release, { news, round });
      this.#parts.keep(served);
      return;
    }
    release?.();
    if (news === undefined) return;
    retryQueue.add(session, news, now() + handMs);
    this.#parts.scheduleAlarm(now() + handMs);
  }

  #endIfOver(round: Round): void {
    if (round.isSent && round.underWay === 0) this.#parts.outbox.done(round.range);
  }

  async #retry(): Promise<void> {
    const { retryQueue } = this.#parts;
    let after = "";
    for (;;) {
      const sessions = retryQueue.ready(after, PAGE);
      for (const session of sessions) {
        if (this.#flights.has(session)) continue;
        const release = await this.#slots.take();
        if (this.#flights.has(session)) release();
        else this.#parts.keep(this.#serve(session, release));
      }
      if (sessions.length < PAGE) break;
      after = sessions.at(-1) ?? after;
    }
  }

  /** Calls a session until it has no news left. */
  async #serve(
    session: string,
    release: () => void,
    first?: { readonly news: News; readonly round: Round },
  ): Promise<void> {
    const { retryQueue, now, handMs, scheduleAlarm } = this.#parts;
    const flight: Flight = { isRenewed: false };
    this.#flights.set(session, flight);
    try {
      let isTaken = true;
      if (first !== undefined) {
        isTaken = await this.#deliver(session, first.news, flight);
        first.round.underWay -= 1;
        if (!isTaken) retryQueue.add(session, first.news, now());
        this.#endIfOver(first.round);
      } else {
        retryQueue.trying(session, now() + 2 * handMs);
      }
      while (isTaken) {
        const news = retryQueue.next(session);
        if (news === undefined) return;
        isTaken = await this.#deliver(session, news, flight);
        if (isTaken) retryQueue.taken(session, news);
      }
      retryQueue.failed(session);
      // An overdue session waits for a slot, and not for the alarm.
      const next = retryQueue.soonest();
      if (next !== undefined) scheduleAlarm(Math.max(next, now() + MIN_PAUSE_MS));
    } finally {
      this.#flights.delete(session);
      release();
    }
  }

  /** @returns `false` when it failed, and must be repeated if the session is still subscribed. */
  async #deliver(session: string, news: News, flight: Flight): Promise<boolean> {
    const { recipients, deadlines, handMs, onGone } = this.#parts;
    flight.isRenewed = false;
    const delivered = recipients.deliver(session, news);
    const handed = await deadlines.within(delivered, handMs).catch(() => undefined);
    if (handed === "taken") return true;
    if (handed === undefined || flight.isRenewed) return false;
    onGone(session);
    return false;
  }
}
