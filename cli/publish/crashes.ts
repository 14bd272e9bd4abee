/** When a local server that ends by itself is started again, and when it is left alone. Pure. */

import { pauseMs } from "../../src/lib/backoff.ts";

const WINDOW_MS = 60_000;
const MOST = 5;
const PAUSES = { firstMs: 500, maxMs: 10_000 } as const;
/** Of a server that is left alone. */
const OFFLINE = { firstMs: 60_000, maxMs: 1_800_000 } as const;

export class Crashes {
  #times: readonly number[] = [];
  #offlines = 0;

  /** @returns how long it is left alone, in milliseconds, if it has ended too often. */
  note(now: number): number | undefined {
    this.#times = [...this.#recent(now), now];
    if (this.#times.length < MOST) return undefined;
    this.#times = [];
    return pauseMs(OFFLINE, this.#offlines++);
  }

  /** How long the next start waits, in milliseconds. */
  pauseMs(now: number): number {
    const recent = this.#recent(now);
    const last = recent.at(-1);
    if (last === undefined) return 0;
    return Math.max(0, last + pauseMs(PAUSES, recent.length - 1) - now);
  }

  #recent(now: number): readonly number[] {
    return this.#times.filter((time) => now - time < WINDOW_MS);
  }
}
