/**
 * An isolate's limits on its traffic with one server, and its circuit breaker. They are lost with the
 * isolate, and each isolate has its own: a shared limit would cost every call a request to a counter.
 */

import { dropOldest } from "../../lib/drop-oldest.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { Limits } from "../../policy/limits.ts";
import type { Server } from "../../endpoint/server.ts";
import { Breaker, type Pass } from "./breaker.ts";

/** A place among the server's requests in flight. */
interface Entered {
  readonly kind: "entered";
  readonly pass: Pass;
}

export type GateDecision =
  | Entered
  | {
      readonly kind: "refused";
      readonly why: "concurrency" | "rate" | "paused";
      /** The time until the client should retry. */
      readonly waitMs: number;
    };

/** A guess: the end of a running request cannot be predicted. */
const CROWD_WAIT_MS = 1000;
/**
 * The time for which a place is counted, in timeouts of one call. The platform may drop the holder of
 * a place without notice. A request that runs longer, with progress, is not counted.
 */
const PLACE_TIMEOUTS = 4;

export class Gate {
  readonly breaker: Breaker;
  readonly #maxInFlight: number;
  readonly #rate: TokenBucket;
  readonly #now: () => number;
  readonly #placeMs: number;
  /** The time at which each place was taken; the oldest first. */
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

  /** A caller that enters must call `leave` with the entry that it got here. */
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

/** More servers than any operator configures, but people publish more; who was not called for longest is dropped. */
const MAX_GATES = 1000;
const gates = new Map<string, Gate>();

/** @param now the clock for a new gate. */
export function gateOf({ slug, target }: Server, limits: Limits, now: () => number): Gate {
  const key = `${slug} ${target.endpoint.href}`;
  const gate = gates.get(key) ?? new Gate(limits, target.timeoutMs, now);
  gates.delete(key);
  gates.set(key, gate);
  dropOldest(gates, MAX_GATES);
  return gate;
}
