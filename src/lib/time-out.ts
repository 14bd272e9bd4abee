/** Waits with a time-out. No timer is left running: it would keep a Durable Object in memory. */

/** @returns `undefined` when the time is over first; the promise continues and may be awaited again. */
export async function settleWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: number | null = null;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A time-out for waits that follow one another, with one timer for all of them: to set a timer and to clear it
 * for each event of a stream is a twentieth of the work that the event takes.
 */
export class SuccessiveWaits {
  readonly #ms: number;
  #timer: number | null = null;
  /** As `performance.now()` has it: a clock that is set is no silence. */
  #until = 0;
  #giveUp: (() => void) | undefined;

  /** @param ms that each wait may take. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** @returns `undefined` when the time is over first; the promise continues and may be awaited again. */
  within<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      this.#until = performance.now() + this.#ms;
      this.#giveUp = () => resolve(undefined);
      this.#timer ??= setTimeout(() => this.#check(), this.#ms);
      promise.then((value) => {
        this.#giveUp = undefined;
        resolve(value);
      }, reject);
    });
  }

  /** Leaves no timer: there is no other wait. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #check(): void {
    this.#timer = null;
    const giveUp = this.#giveUp;
    if (giveUp === undefined) return;
    const left = this.#until - performance.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.#check(), left);
      return;
    }
    this.#giveUp = undefined;
    giveUp();
  }
}

/** Runs a function and aborts its signal when the time is over. */
export async function abortAfter<T>(
  ms: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`Not done in ${ms} ms`)), ms);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}
