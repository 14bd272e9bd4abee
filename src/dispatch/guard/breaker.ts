/**
 * A circuit breaker: after so many requests in a row without a sign of life from a server, callers
 * are told at once for a while; then one request is let through to see. It knows of one server.
 * What may be the fault of a request is believed when two principals have met it, so nobody can
 * have a server paused for others; the price is that one alone waits for each timeout.
 */

/** The longest pause, unless the first one is longer. */
const MAX_PAUSE_MS = 60_000;

/** A request that was let through. */
export interface Pass {
  readonly isProbe: boolean;
}

export type Admission =
  | { readonly kind: "passed"; readonly pass: Pass }
  /** How long the pause still is. */
  | { readonly kind: "paused"; readonly waitMs: number };

/** What a request's end has changed, for those who are to know. */
export type BreakerTransition = "opened" | "closed" | undefined;

export class Breaker {
  readonly #maxFailures: number;
  readonly #firstPauseMs: number;
  readonly #now: () => number;
  #failures = 0;
  /** Whose requests alone have failed in a way that may be their own fault. */
  #suspect: string | undefined;
  /** Not only of one principal's requests is it known that the server does not answer. */
  #isProven = false;
  #pauseMs: number;
  /** `undefined` when everything passes. */
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
    // The others go on waiting while it is on its way. It may be a call that takes minutes, and
    // then the next pause has its own probe.
    this.#pausedUntil = this.#now() + this.#pauseMs;
    this.#probe = { isProbe: true };
    return { kind: "passed", pass: this.#probe };
  }

  /** The server has answered, whatever it said. */
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
   * @param suspect whose request it was, when the request itself may be to blame.
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
    // What was on its way when the pause began tells nothing new.
    if (pass !== this.#probe) return undefined;
    this.#believe(suspect);
    if (!this.#isProven) {
      // It tells no more than one that was cancelled; somebody else's will.
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

  /** The client no longer wants the answer, so nobody knows how the server is. */
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
