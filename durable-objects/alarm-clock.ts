/** The one alarm that an object has, shared by all that wait for a time. */

import { count } from "../src/observability/costs.ts";

export class AlarmClock {
  readonly #storage: DurableObjectStorage;
  readonly #waitUntil: (promise: Promise<unknown>) => void;
  /** When it rings, as far as this life of the object knows: an earlier one may have set it. */
  #ringsAt = Infinity;
  #isKnown = false;

  constructor(storage: DurableObjectStorage, waitUntil: (promise: Promise<unknown>) => void) {
    this.#storage = storage;
    this.#waitUntil = waitUntil;
  }

  /** It has rung. */
  rang(): void {
    this.#ringsAt = Infinity;
    this.#isKnown = true;
  }

  ringsBy(at: number): boolean {
    return this.#ringsAt <= at;
  }

  /** Rings at this time, or before. @param at milliseconds since 1970; never, if there is none. */
  noLaterThan(at: number | undefined): void {
    if (at === undefined || at >= this.#ringsAt) return;
    this.#ringsAt = at;
    this.#waitUntil(this.#set(at));
  }

  async #set(at: number): Promise<void> {
    if (!this.#isKnown) {
      const earlier = await this.#storage.getAlarm();
      this.#isKnown = true;
      if (earlier !== null && earlier <= this.#ringsAt) {
        this.#ringsAt = earlier;
        return;
      }
    }
    // Something may have asked for an earlier time meanwhile.
    if (at > this.#ringsAt) return;
    count("alarmsSet");
    await this.#storage.setAlarm(at);
  }
}
