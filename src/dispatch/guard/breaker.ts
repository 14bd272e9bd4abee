/**
 * A circuit breaker for one server: after a number of consecutive requests without a sign of life,
 * requests are refused at once for a while; then one probe passes. Failures that may be the request's
 * own fault open the breaker only when two people have them, so nobody can have a server
 * paused for others, with however many applications. The price: a single person waits for each timeout.
 */

/** The longest pause, unless the first one is longer. */
const MAX_PAUSE_MS = 60_000;

/** The pass of a request that was let through. */
export interface Pass {
  readonly isProbe: boolean;
}

export type Admission =
  | { readonly kind: "passed"; readonly pass: Pass }
  /** `waitMs` is the rest of the pause. */
  | { readonly kind: "paused"; readonly waitMs: number };

/** The change of state that the end of a request caused. */
export type BreakerTransition = "opened" | "closed" | undefined;

export class Breaker {
  readonly #maxFailures: number;
  readonly #firstPauseMs: number;
  readonly #now: () => number;
  #failures = 0;
  /** The first person whose request has failed in a way that may be its own fault. */
  #suspect: string | undefined;
  /** True when the failures cannot all be the fault of one person's requests. */
  #isProven = false;
  #pauseMs: number;
  /** `undefined` when all requests pass. */
  #pausedUntil: number | undefined;
  #probe: Pass | undefined;

  constructor(options: { maxFailures: number; pauseMs: number; now: () => number }) {
    this.#maxFailures = options.maxFailures;
    this.#firstPauseMs = options.pauseMs;
    this.#now = options.now;
    this.#pauseMs = options.pauseMs;
  }

  admit(): Admission {
    if (this.#pausedUntil === undefined) return { kind: "passed", pass: { isProbe: false } };
    const waitMs = this.#pausedUntil - this.#now();
    if (waitMs > 0) return { kind: "paused", waitMs };
    // Other requests are refused while the probe runs. A probe may take minutes: then the next pause
    // has its own probe.
    this.#pausedUntil = this.#now() + this.#pauseMs;
    this.#probe = { isProbe: true };
    return { kind: "passed", pass: this.#probe };
  }

  /** The server has answered, with a result or an error. */
  answered(): BreakerTransition {
    this.#failures = 0;
    this.#forgetSuspect();
    if (this.#pausedUntil === undefined) return undefined;
    this.#pausedUntil = undefined;
    this.#probe = undefined;
    this.#pauseMs = this.#firstPauseMs;
    return "closed";
  }

  /**
   * The server gave no sign of life.
   *
   * @param suspect the person of the request, when the request itself may be to blame.
   */
  failed(pass: Pass, suspect?: string): BreakerTransition {
    if (this.#pausedUntil === undefined) {
      this.#failures += 1;
      this.#believe(suspect);
      if (this.#failures < this.#maxFailures || !this.#isProven) return undefined;
      this.#forgetSuspect();
      this.#pausedUntil = this.#now() + this.#pauseMs;
      return "opened";
    }
    // A request from before the pause proves nothing new.
    if (pass !== this.#probe) return undefined;
    this.#believe(suspect);
    if (!this.#isProven) {
      // It proves no more than a cancelled probe; a probe of another person will.
      this.abandoned(pass);
      return undefined;
    }
    this.#forgetSuspect();
    this.#probe = undefined;
    const longest = Math.max(MAX_PAUSE_MS, this.#firstPauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, longest);
    this.#pausedUntil = this.#now() + this.#pauseMs;
    return undefined;
  }

  /** The client cancelled the request, so the server's state stays unknown. */
  abandoned(pass: Pass): void {
    if (pass !== this.#probe) return;
    this.#probe = undefined;
    if (this.#pausedUntil !== undefined) this.#pausedUntil = this.#now();
  }

  #believe(suspect: string | undefined): void {
    this.#suspect ??= suspect;
    if (suspect === undefined || suspect !== this.#suspect) this.#isProven = true;
  }

  #forgetSuspect(): void {
    this.#suspect = undefined;
    this.#isProven = false;
  }
}
