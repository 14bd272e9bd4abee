/**
 * How many streams each principal listens on, in this isolate, and for how many resources, so that
 * nobody uses up what there is for all. A request whose client has hung up may be ended without
 * another word: so a place is a lease, which is good for as long as somebody renews it.
 */

import type { Limits } from "../../policy/limits.ts";

const LEASE_MS = 15_000;
const RENEWED_EACH_MS = 5000;
/** One principal's part of the resources, and of their characters, that a server is watched for. */
const SHARE = 1 / 4;

export interface Asking {
  readonly principal: string;
  readonly uris: readonly string[];
}

/** One stream's. */
interface Lease {
  readonly uriCount: number;
  readonly uriChars: number;
  expiresAt: number;
}

export interface Place {
  /** The first of those that were asked for, as far as the principal's part goes. */
  readonly uris: readonly string[];
  readonly leave: () => void;
}

export interface ListenPlacesOptions {
  readonly limits: Pick<Limits, "listenStreamsPerPrincipal" | "subscribedUrisPerServer">;
  /** Of all that one server is watched for. */
  readonly maxUrisChars: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class ListenPlaces {
  readonly #leases = new Map<string, Set<Lease>>();
  #sweptAt = -Infinity;

  /** @returns `undefined` when the principal has no place left. To be left in any case. */
  enter({ principal, uris }: Asking, options: ListenPlacesOptions): Place | undefined {
    const { limits, maxUrisChars, now } = options;
    this.#sweep(now());
    const leases = this.#leases.get(principal) ?? new Set();
    if (leases.size >= limits.listenStreamsPerPrincipal) return undefined;
    let countLeft = Math.ceil(limits.subscribedUrisPerServer * SHARE);
    let charsLeft = maxUrisChars * SHARE;
    for (const { uriCount, uriChars } of leases) {
      countLeft -= uriCount;
      charsLeft -= uriChars;
    }
    const taken: string[] = [];
    let uriChars = 0;
    for (const uri of uris) {
      if (taken.length >= countLeft || uriChars + uri.length > charsLeft) break;
      taken.push(uri);
      uriChars += uri.length;
    }
    const lease: Lease = { uriCount: taken.length, uriChars, expiresAt: now() + LEASE_MS };
    leases.add(lease);
    this.#leases.set(principal, leases);
    // It belongs to the request, and ends with it.
    const timer = setInterval(() => {
      lease.expiresAt = now() + LEASE_MS;
      // An isolate that was stopped for a while finds it swept.
      this.#leases.set(principal, (this.#leases.get(principal) ?? new Set()).add(lease));
    }, RENEWED_EACH_MS);
    const leave = (): void => {
      clearInterval(timer);
      this.#drop(principal, lease);
    };
    return { uris: taken, leave };
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < RENEWED_EACH_MS && now >= this.#sweptAt) return;
    this.#sweptAt = now;
    for (const [principal, leases] of this.#leases) {
      for (const lease of leases) if (lease.expiresAt <= now) this.#drop(principal, lease);
    }
  }

  #drop(principal: string, lease: Lease): void {
    const leases = this.#leases.get(principal);
    leases?.delete(lease);
    if (leases?.size === 0) this.#leases.delete(principal);
  }
}
