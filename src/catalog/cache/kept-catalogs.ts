/**
 * The catalogs that an isolate holds, within a weight: whichever was set longest ago goes first, for a
 * feed tells anew of what is in use. Values only, and each may be forgotten at any time.
 */

import { type Catalog, LIST_KINDS, type Trouble } from "../catalog.ts";
import { entryWeight } from "../read/room.ts";

export interface Kept {
  readonly catalog: Catalog | undefined;
  readonly trouble: Trouble | undefined;
  /** Nothing else is to be expected until then. Times are in milliseconds since 1970. */
  readonly freshUntil: number;
  /** When the feed said last that it is so. */
  readonly askedAt: number;
  /** When the server was last known to have the catalog; without one, it says nothing. */
  readonly seenAt: number;
  /** It was waited for in vain: until then, nobody waits for it again. */
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
