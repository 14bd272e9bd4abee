/**
 * Places that requests hold while they run. The runtime may end a request without notice when its client
 * has hung up, so a place is renewed while its request lives, and expires afterwards.
 */

const LEASE_MS = 15_000;
const RENEWED_EACH_MS = 5000;

interface Lease<T> {
  readonly value: T;
  expiresAt: number;
}

export class TimedLeases<T> {
  readonly #leases = new Map<string, Set<Lease<T>>>();
  #sweptAt = Number.NEGATIVE_INFINITY;
  #taken = 0;

  /**
   * @param now milliseconds since 1970.
   * @returns the number of places that all holders have together.
   */
  taken(now: () => number = () => Date.now()): number {
    this.#sweep(now());
    return this.#taken;
  }

  /**
   * @param now milliseconds since 1970.
   * @returns the values of the places that this holder has.
   */
  held(holder: string, now: () => number = () => Date.now()): readonly T[] {
    this.#sweep(now());
    return Array.from(this.#leases.get(holder) ?? [], ({ value }) => value);
  }

  /** @returns a function that gives the place back; it may be called more than once. */
  take(holder: string, value: T, now: () => number = () => Date.now()): () => void {
    const lease: Lease<T> = { value, expiresAt: now() + LEASE_MS };
    const renew = (): void => {
      lease.expiresAt = now() + LEASE_MS;
      // An isolate that was stopped for a while finds the lease swept.
      this.#add(holder, lease);
    };
    renew();
    // The timer belongs to the request, and ends with it.
    const timer = setInterval(renew, RENEWED_EACH_MS);
    return () => {
      clearInterval(timer);
      this.#drop(holder, lease);
    };
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < RENEWED_EACH_MS && now >= this.#sweptAt) return;
    this.#sweptAt = now;
    for (const [holder, leases] of this.#leases) {
      for (const lease of leases) if (lease.expiresAt <= now) this.#drop(holder, lease);
    }
  }

  #add(holder: string, lease: Lease<T>): void {
    const leases = this.#leases.get(holder) ?? new Set();
    if (leases.has(lease)) return;

    this.#leases.set(holder, leases.add(lease));
    this.#taken += 1;
  }

  #drop(holder: string, lease: Lease<T>): void {
    const leases = this.#leases.get(holder);
    if (leases?.delete(lease) === true) this.#taken -= 1;
    if (leases?.size === 0) this.#leases.delete(holder);
  }
}
