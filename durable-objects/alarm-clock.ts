/** The one alarm of a Durable Object, shared by all parts that wait for a time. */

import { count } from "../src/observability/costs.ts";

export class AlarmClock {
  readonly #ctx: DurableObjectState;
  /** When the alarm fires. */
  #ringsAt = Infinity;
  /** The next time that was asked for, as far as this life knows. */
  #nextAt = Infinity;
  /** Whether it is known which alarm an earlier life has left. */
  #isKnown = false;

  /**
   * To be made by the constructor of the object: nothing is delivered to it before the clock knows the alarm of an
   * earlier life. So an alarm is set in the turn of what it is for, and both are written at once or not at all.
   */
  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    void ctx.blockConcurrencyWhile(async () => {
      const earlier = (await ctx.storage.getAlarm()) ?? Infinity;
      this.#isKnown = true;
      if (this.#ringsAt < earlier) {
        this.#nextAt = Math.min(this.#nextAt, earlier);
        this.#set();
      } else {
        this.#nextAt = this.#ringsAt;
        this.#ringsAt = earlier;
      }
    });
  }

  /** Notes that there is no alarm: it has fired, or was deleted with all that is stored. */
  fired(): void {
    this.#ringsAt = Infinity;
    this.#nextAt = Infinity;
  }

  /** @param at milliseconds since 1970. */
  firesBy(at: number): boolean {
    return this.#ringsAt <= at;
  }

  /** Makes the alarm fire at this time or before. @param at milliseconds since 1970; `undefined`: never. */
  noLaterThan(at: number | undefined): void {
    if (at === undefined || at === this.#ringsAt) return;
    if (at > this.#ringsAt) {
      this.#nextAt = Math.min(this.#nextAt, at);
      return;
    }
    this.#nextAt = this.#ringsAt;
    this.#ringsAt = at;
    if (this.#isKnown) this.#set();
  }

  /** Only one part needed the alarm of this time, and does not any more. */
  withdraw(at: number): void {
    if (at !== this.#ringsAt || !this.#isKnown) return;
    this.#ringsAt = this.#nextAt;
    this.#nextAt = Infinity;
    if (this.#ringsAt < Infinity) this.#set();
    else this.#ctx.waitUntil(this.#ctx.storage.deleteAlarm());
  }

  #set(): void {
    count("alarmsSet");
    this.#ctx.waitUntil(this.#ctx.storage.setAlarm(this.#ringsAt));
  }
}
