/**
 * A semaphore. If a caller waits longer than `stuckMs`, all holders count as stuck and lose their permits,
 * so that a hanging holder does not block the others.
 */

import type { Deadlines } from "./deadlines.ts";

export interface SlotOptions {
  readonly count: number;
  /** The longest wait before the holders count as stuck. */
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

  /** @returns a function that gives the permit back; it may be called more than once. */
  async take(): Promise<() => void> {
    const { count, stuckMs, deadlines } = this.#options;
    while (this.#held.size >= count) {
      const released = new Promise<true>((resolve) => this.#waiting.push(() => resolve(true)));
      if ((await deadlines.within(released, stuckMs)) !== undefined) continue;
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
