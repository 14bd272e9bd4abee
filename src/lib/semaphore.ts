/**
 * So many at a time. When none of those under way moves for a while, they are taken for stuck and
 * do not count any more: whoever hangs must not hold up the rest.
 */

import type { Deadlines } from "./deadlines.ts";

export interface SlotOptions {
  readonly count: number;
  /** How long somebody waits before the others are taken for stuck. */
  readonly stuckMs: number;
  readonly deadlines: Deadlines;
}

export class Semaphore {
  readonly #options: SlotOptions;
  readonly #held = new Set<object>();
  #waiting: (() => void)[] = [];

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  /** @returns what gives it back; more than once does no harm. */
  async take(): Promise<() => void> {
    const { count, stuckMs, deadlines } = this.#options;
    while (this.#held.size >= count) {
      const turn = new Promise<true>((resolve) => this.#waiting.push(() => resolve(true)));
      if ((await deadlines.within(turn, stuckMs)) !== undefined) continue;
      this.#held.clear();
      for (const wake of this.#waiting.splice(0)) wake();
    }
    const slot = {};
    this.#held.add(slot);
    return () => {
      if (this.#held.delete(slot)) this.#waiting.shift()?.();
    };
  }
}
