/** A semaphore: so many callers hold a permit at a time, the others wait in the order of their arrival. */

import type { Deadlines } from "./deadlines.ts";

export interface SemaphoreOptions {
  readonly count: number;
  /**
   * If a caller waits longer than `afterMs`, all holders count as stuck and lose their permits, so that a
   * hanging holder does not block the others.
   */
  readonly stuck?: { readonly afterMs: number; readonly deadlines: Deadlines };
}

/** Gives a permit back. It may be called more than once. */
export type Release = () => void;

interface Waiting {
  readonly isPreferred: boolean;
  readonly grant: (release: Release) => void;
}

export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #held = new Set<object>();
  readonly #waiting: Waiting[] = [];
  /** The number of times that the holders have lost their permits. */
  #losses = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /**
   * @param isPreferred preferred callers wait for no others.
   * @returns the permit, or a promise of it while none is free.
   */
  take(isPreferred = true): Release | Promise<Release> {
    if (this.#held.size < this.#options.count) return this.#permit();
    const { promise, resolve } = Promise.withResolvers<Release>();
    this.#waiting.push({ isPreferred, grant: resolve });
    const { stuck } = this.#options;
    return stuck === undefined ? promise : this.#unlessStuck(promise, stuck);
  }

  #permit(): Release {
    const permit = {};
    this.#held.add(permit);
    return () => {
      if (this.#held.delete(permit)) this.#grant();
    };
  }

  #grant(): void {
    while (this.#held.size < this.#options.count) {
      const preferred = this.#waiting.findIndex(({ isPreferred }) => isPreferred);
      const [next] = this.#waiting.splice(Math.max(0, preferred), 1);
      if (next === undefined) return;
      next.grant(this.#permit());
    }
  }

  async #unlessStuck(
    granted: Promise<Release>,
    { afterMs, deadlines }: NonNullable<SemaphoreOptions["stuck"]>,
  ): Promise<Release> {
    for (;;) {
      const losses = this.#losses;
      const release = await deadlines.within(granted, afterMs);
      if (release !== undefined) return release;
      // After a loss, the new holders have their time.
      if (this.#losses !== losses) continue;
      this.#losses += 1;
      this.#held.clear();
      this.#grant();
    }
  }
}
