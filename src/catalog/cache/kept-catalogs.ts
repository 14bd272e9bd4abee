/**
 * The catalogs that an isolate holds, within a weight. The catalog that was set longest ago goes
 * first: a catalog in use is set again with each answer of its feed. Any may be dropped anytime.
 */

import { type Catalog, LIST_KINDS, type Trouble } from "../catalog.ts";
import { entryWeight } from "../read/byte-budget.ts";

export interface Kept {
  readonly catalog: Catalog | undefined;
  readonly trouble: Trouble | undefined;
  /** No change is expected until then. Times are in milliseconds since 1970. */
  readonly freshUntil: number;
  /** The time when the feed last confirmed it. */
  readonly askedAt: number;
  /** The time when the server was last known to have the catalog; without one, meaningless. */
  readonly seenAt: number;
  /** A wait for the catalog failed: until this time, no request waits for it again. */
  readonly hastyUntil: number;
}

export class KeptCatalogs {
  readonly #entries = new Map<string, { readonly kept: Kept; readonly weight: number }>();
  readonly #maxWeight: number;
  readonly #ttlMs: number;
  #weight = 0;

  constructor(options: { maxWeight: number; ttlMs: number }) {
    this.#maxWeight = options.maxWeight;
    this.#ttlMs = options.ttlMs;
  }

  get(key: string): Kept | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.kept.askedAt + this.#ttlMs > Date.now()) return entry.kept;
    this.delete(key);
    return undefined;
  }

  set(key: string, kept: Kept): void {
    const before = this.#entries.get(key);
    const weight =
      before !== undefined && before.kept.catalog === kept.catalog
        ? before.weight
        : weightOf(kept.catalog);
    this.delete(key);
    this.#entries.set(key, { kept, weight });
    this.#weight += weight;
    // Maps keep insertion order, so the first key is the one that was set longest ago.
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}

function weightOf(catalog: Catalog | undefined): number {
  let weight = entryWeight();
  if (catalog === undefined) return weight;
  for (const list of LIST_KINDS) {
    for (const { name, text } of catalog.lists[list]) weight += entryWeight(name, text);
  }
  return weight;
}
