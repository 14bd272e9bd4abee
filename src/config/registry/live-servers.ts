/**
 * What an isolate knows of the servers that operators have added. A request asks nobody: it uses what is known,
 * and one that finds it older than five seconds has it renewed behind its answer. What is older than ten
 * is waited for, so every isolate serves a change within ten seconds. All requests of an isolate share one
 * instance, so it holds values only: on Workers, a promise belongs to the request that made it.
 */

import { sleep } from "../../lib/sleep.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { logUnexpected } from "../../observability/unexpected.ts";

/** Until then it is used as it is. */
const FRESH_MS = 5000;
/** Until then it is used and renewed. */
const USABLE_MS = 10_000;
/** A request waits this long; then it is served with what was known before. */
const PATIENCE_MS = 1000;
const POLL_MS = 10;
/** The shortest time between two questions about what may not exist. */
const SEEK_MS = 1000;

/** By then, every isolate serves a change, unless the registry cannot be reached. */
export const SERVED_WITHIN_MS = USABLE_MS + PATIENCE_MS;

export interface LiveServersOptions<State> {
  /** @param known the version that is known. @returns `undefined` when that is the newest. */
  readonly read: (known: number | undefined) => Promise<State | undefined>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class LiveServers<State extends { readonly version: number }> {
  readonly #options: LiveServersOptions<State>;
  #state: State | undefined;
  /** When the state that is known was asked for, and when any was asked for last. */
  #readAt = -Infinity;
  #askedAt = -Infinity;
  #soughtAt = -Infinity;
  #isAsking = false;

  constructor(options: LiveServersOptions<State>) {
    this.#options = options;
  }

  /** What is known; `undefined` before the first answer. */
  get known(): State | undefined {
    return this.#state;
  }

  /** True where what is known is too old to be used, and was not asked for just now in vain. */
  get isTooOld(): boolean {
    if (this.#since(this.#readAt) < USABLE_MS) return false;
    return this.#isUnderWay || this.#since(this.#askedAt) >= FRESH_MS;
  }

  /**
   * Sees to it that what is known is new enough.
   *
   * @param waitUntil keeps the isolate running for a renewal behind the answer.
   * @returns what to wait for, if anything. It never rejects.
   */
  fresh(waitUntil: (promise: Promise<unknown>) => void): Promise<unknown> | undefined {
    if (this.#since(this.#readAt) < FRESH_MS) return undefined;
    const { isTooOld } = this;
    if (this.#isUnderWay) return isTooOld ? this.#underWay() : undefined;
    // One that has failed is repeated after a pause, so that nobody waits for it twice.
    if (this.#since(this.#askedAt) < FRESH_MS) return undefined;
    const renewing = this.#renew();
    // Also where it is waited for: it goes on when that takes too long, or the request is cancelled.
    waitUntil(renewing);
    return isTooOld ? settleWithin(renewing, PATIENCE_MS) : undefined;
  }

  /**
   * Reads now, for whoever knows that there is something new. It never rejects.
   *
   * @returns whether what is known is that of now.
   */
  async renewed(): Promise<boolean> {
    return (await settleWithin(this.#renew(), PATIENCE_MS)) === true;
  }

  /**
   * As `renewed`, for whoever was asked for something that is not known and may not exist: a stranger can
   * name such things as often as they like, so it reads once a second at most.
   *
   * @returns whether what is known is that of this second.
   */
  async sought(): Promise<boolean> {
    if (this.#since(this.#soughtAt) >= SEEK_MS) {
      this.#soughtAt = this.#options.now();
      return this.renewed();
    }
    if (this.#isUnderWay) await this.#underWay();
    return this.#since(this.#readAt) < SEEK_MS;
  }

  async #renew(): Promise<boolean> {
    const askedAt = this.#options.now();
    this.#askedAt = askedAt;
    this.#isAsking = true;
    try {
      const state = await this.#options.read(this.#state?.version);
      // An answer that comes late must not undo a later one.
      if (state !== undefined && state.version >= (this.#state?.version ?? 0)) this.#state = state;
      this.#readAt = askedAt;
      return true;
    } catch (error) {
      logUnexpected(error);
      return false;
    } finally {
      this.#isAsking = false;
    }
  }

  /** A request that is cancelled never clears `#isAsking`. */
  get #isUnderWay(): boolean {
    return this.#isAsking && this.#since(this.#askedAt) < PATIENCE_MS;
  }

  /** Another request asks: its promise cannot be awaited here. */
  async #underWay(): Promise<void> {
    for (let waited = 0; waited < PATIENCE_MS && this.#isUnderWay; waited += POLL_MS) {
      await sleep(POLL_MS);
    }
  }

  /** A clock that was set back makes everything old. */
  #since(at: number): number {
    const passed = this.#options.now() - at;
    return passed < 0 ? Infinity : passed;
  }
}
