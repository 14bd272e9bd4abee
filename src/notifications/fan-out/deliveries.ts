/**
 * Hands news to the legacy sessions: each gets one call at a time, so that it hears of a server in
 * the order of its news, and drops by number what it has had. Whatever a session does, the others do
 * not wait for it: who cannot be reached, or is still busy, has the news set aside (`retry-queue.ts`).
 *
 * News is handed out at least once: what an earlier life of the branch may have handed out is handed
 * out again, piece by piece, under the numbers that it had.
 */

import type { News } from "../../catalog/feeds.ts";
import type { Deadlines } from "../../lib/deadlines.ts";
import type { Outbox, Range } from "./outbox.ts";
import type { RetryQueue } from "./retry-queue.ts";
import { Semaphore } from "../../lib/semaphore.ts";

/**
 * What became of news: the session has it; there is no such session; or nobody reads there, and it
 * subscribes anew when somebody does.
 */
export type Handed = "taken" | "gone" | "parked";

export interface Recipients {
  /**
   * News of a server comes in order of `seq`, and not from two calls at a time; what is not above
   * the highest that the session has had, it has had already. A rejection is a failure, and the same
   * news comes again.
   */
  deliver(session: string, news: News): Promise<Handed>;
}

export interface DeliveryParts {
  readonly due: Outbox;
  readonly late: RetryQueue;
  readonly recipients: Recipients;
  readonly deadlines: Deadlines;
  readonly handMs: number;
  readonly stuckMs: number;
  readonly now: () => number;
  readonly scheduleAlarm: (at: number) => void;
  /** Keeps the holder awake. */
  readonly keep: (work: Promise<void>) => void;
  /** There is no such session any more, or it sleeps without a reader. */
  readonly onGone: (session: string) => void;
}

/** Below all numbers of news. */
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

/** A session that is being called. */
interface Flight {
  /** It subscribed meanwhile: what it answers was said before that. */
  isRenewed: boolean;
}

export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #slots: Semaphore;
  readonly #flights = new Map<string, Flight>();
  readonly #running = new Set<string>();
  #isRetrying = false;
  /** Up to where news of each server was handed out in this life. */
  readonly #passed = new Map<string, number>();
  /** Up to where an earlier life may have handed it out. */
  readonly #earlier: ReadonlyMap<string, number>;
  /** Servers of which that is not on its way again yet. */
  readonly #resuming: Set<string>;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    const { stuckMs, deadlines } = parts;
    this.#slots = new Semaphore({ count: AT_ONCE, stuckMs, deadlines });
    this.#earlier = parts.due.newest();
    this.#resuming = new Set(this.#earlier.keys());
    for (const slug of this.#earlier.keys()) this.start(slug);
    this.retry();
  }

  /** Hands out what is due of a server. */
  start(slug: string): void {
    if (this.#running.has(slug)) return;
    this.#running.add(slug);
    this.#parts.keep(this.#run(slug));
  }

  /**
   * Tries those again whose time has come. What an earlier life set aside for a session may come
   * after something that it was in the middle of handing out: that goes first.
   */
  retry(): void {
    if (this.#isRetrying || this.#resuming.size > 0) return;
    this.#isRetrying = true;
    this.#parts.keep(this.#retry().finally(() => (this.#isRetrying = false)));
  }

  /** It subscribes, so it is there. */
  renewed(session: string): void {
    const flight = this.#flights.get(session);
    if (flight !== undefined) flight.isRenewed = true;
    else if (this.#parts.late.revive(session))
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
   * News that came one after the other goes out together. But where an earlier life may have handed
   * out some of it, a session that has had one piece and not the next must be able to tell.
   */
  #next(slug: string): Range | undefined {
    const above = this.#passed.get(slug) ?? NOTHING;
    const ends = this.#parts.due.ends(slug, above);
    if (ends === undefined) return undefined;
    const { first, last } = ends;
    return { slug, above, upTo: first <= (this.#earlier.get(slug) ?? NOTHING) ? first : last };
  }

  async #send(round: Round): Promise<void> {
    const { due } = this.#parts;
    let after = "";
    for (;;) {
      const sessions = due.sessions(round.range, after, PAGE);
      for (const session of sessions) await this.#sendTo(session, round);
      if (sessions.length < PAGE) break;
      after = sessions.at(-1) ?? after;
    }
    round.isSent = true;
    this.#endIfOver(round);
  }

  /** Waits for no more than a place among those that are called at the same time. */
  async #sendTo(session: string, round: Round): Promise<void> {
    const { due, late, handMs, now } = this.#parts;
    const isBusy = (): boolean => this.#flights.has(session) || late.has(session);
    const release = isBusy() ? undefined : await this.#slots.take();
    // It may have left, or asked for more, while others were called.
    const news = due.of(session, round.range);
    if (news !== undefined && release !== undefined && !isBusy()) {
      round.underWay += 1;
      const served = this.#serve(session, release, { news, round });
      this.#parts.keep(served);
      return;
    }
    release?.();
    if (news === undefined) return;
    late.add(session, news, now() + handMs);
    this.#parts.scheduleAlarm(now() + handMs);
  }

  #endIfOver(round: Round): void {
    if (round.isSent && round.underWay === 0) this.#parts.due.done(round.range);
  }

  async #retry(): Promise<void> {
    const { late } = this.#parts;
    let after = "";
    for (;;) {
      const sessions = late.ready(after, PAGE);
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

  /** Calls a session for as long as there is something for it. */
  async #serve(
    session: string,
    release: () => void,
    first?: { readonly news: News; readonly round: Round },
  ): Promise<void> {
    const { late, now, handMs, scheduleAlarm: ring } = this.#parts;
    const flight: Flight = { isRenewed: false };
    this.#flights.set(session, flight);
    try {
      let isTaken = true;
      if (first !== undefined) {
        isTaken = await this.#hand(session, first.news, flight);
        first.round.underWay -= 1;
        if (!isTaken) late.add(session, first.news, now());
        this.#endIfOver(first.round);
      } else {
        late.trying(session, now() + 2 * handMs);
      }
      while (isTaken) {
        const news = late.next(session);
        if (news === undefined) return;
        isTaken = await this.#hand(session, news, flight);
        if (isTaken) late.taken(session, news);
      }
      late.failed(session);
      // What is overdue waits for a place, and not for the alarm.
      const next = late.soonest();
      if (next !== undefined) ring(Math.max(next, now() + MIN_PAUSE_MS));
    } finally {
      this.#flights.delete(session);
      release();
    }
  }

  /** @returns `false` when it failed, and has to be tried again if the session still wants it. */
  async #hand(session: string, news: News, flight: Flight): Promise<boolean> {
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
