/** The one alarm of a Durable Object, shared by all parts that wait for a time. */

import { count } from "../src/observability/costs.ts";

export class AlarmClock {
  readonly #storage: DurableObjectStorage;
  readonly #waitUntil: (promise: Promise<unknown>) => void;
  /** When the alarm fires, as far as this life of the object knows: an earlier one may have set it. */
  #ringsAt = Infinity;
  #isKnown = false;

  constructor(storage: DurableObjectStorage, waitUntil: (promise: Promise<unknown>) => void) {
    this.#storage = storage;
    this.#waitUntil = waitUntil;
  }

  /** Notes that there is no alarm: it has fired, or was deleted with all that is stored. */
  fired(): void {
    this.#ringsAt = Infinity;
    this.#isKnown = true;
  }

  /** @param at milliseconds since 1970. */
  firesBy(at: number): boolean {
    return this.#ringsAt <= at;
  }

  /** Makes the alarm fire at this time or before. @param at milliseconds since 1970; `undefined`: never. */
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
    // An earlier time may have been requested meanwhile.
    if (at > this.#ringsAt) return;
    count("alarmsSet");
    await this.#storage.setAlarm(at);
  }
}
