/**
 * An isolate's record of its traffic with one server: its amount, and whether the server answers. It is
 * lost with the isolate, and other isolates have their own: a shared limit would cost every call a
 * request to a counter.
 */

import { TokenBucket } from "../../lib/token-bucket.ts";
import type { Limits } from "../../policy/limits.ts";
import type { Server } from "../../endpoint/server.ts";
import { Breaker, type Pass } from "./breaker.ts";

/** A place at the server. */
interface Entered {
  readonly kind: "entered";
  readonly pass: Pass;
}

export type GateDecision =
  | Entered
  | {
      readonly kind: "refused";
      readonly why: "concurrency" | "rate" | "paused";
      /** When to come back. */
      readonly waitMs: number;
    };

/** Nobody knows when one of those will end that run. */
const CROWD_WAIT_MS = 1000;
/**
 * In timeouts of one call: how long a place is counted. Whoever holds it may be dropped without a
 * word by the platform; one that really runs for longer, with progress, is not counted any more.
 */
const PLACE_TIMEOUTS = 4;

export class Gate {
  readonly breaker: Breaker;
  readonly #maxInFlight: number;
  readonly #rate: TokenBucket;
  readonly #now: () => number;
  readonly #placeMs: number;
  /** Since when each is held; the oldest first. */
  readonly #places = new Map<Entered, number>();

  /** @param timeoutMs for one call without progress. */
  constructor(limits: Limits, timeoutMs: number, now: () => number) {
    this.#now = now;
    this.#placeMs = PLACE_TIMEOUTS * timeoutMs;
    this.#maxInFlight = limits.requestsInFlightPerServer;
    this.#rate = new TokenBucket(limits.requestsPerMinutePerServer, now);
    this.breaker = new Breaker({
      maxFailures: limits.failuresBeforePause,
      pauseMs: limits.pauseSeconds * 1000,
      now,
    });
  }

  /** A caller that enters must leave, with the entry that it got here. */
  enter(): GateDecision {
    this.#sweep();
    if (this.#places.size >= this.#maxInFlight) {
      return { kind: "refused", why: "concurrency", waitMs: CROWD_WAIT_MS };
    }
    if (!this.#rate.take()) return { kind: "refused", why: "rate", waitMs: this.#rate.waitMs };
    const admission = this.breaker.admit();
    if (admission.kind === "paused") {
      return { kind: "refused", why: "paused", waitMs: admission.waitMs };
    }
    const entered: Entered = { kind: "entered", pass: admission.pass };
    this.#places.set(entered, this.#now());
    return entered;
  }

  leave(entered: Entered): void {
    this.#places.delete(entered);
  }

  #sweep(): void {
    const oldest = this.#now() - this.#placeMs;
    for (const [place, since] of this.#places) {
      if (since > oldest) return;
      this.#places.delete(place);
    }
  }
}

/** More servers than any operator configures; the oldest gates are dropped. */
const MAX_GATES = 1000;
const gates = new Map<string, Gate>();

/** @param now the clock of a gate that is not there yet. */
export function gateOf({ slug, target }: Server, limits: Limits, now: () => number): Gate {
  const key = `${slug} ${target.endpoint.href}`;
  let gate = gates.get(key);
  if (gate !== undefined) return gate;
  gate = new Gate(limits, target.timeoutMs, now);
  gates.set(key, gate);
  const oldest = gates.keys().next();
  if (gates.size > MAX_GATES && oldest.done !== true) gates.delete(oldest.value);
  return gate;
}
