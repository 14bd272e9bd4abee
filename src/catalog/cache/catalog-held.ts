/**
 * Catalogs in memory, up to a size: many feeds may share the memory of one isolate. A large catalog
 * is read from its rows each time, which is seldom: a caller that has it receives only `same`.
 */

import type { Catalog } from "../catalog.ts";

const MAX_CHARS = 2 * 1024 * 1024;

interface Held {
  readonly catalog: Catalog;
  readonly chars: number;
}

export class HeldCatalogs {
  /** The least recently used catalog is the first. */
  readonly #held = new Map<number, Held>();
  #chars = 0;

  of(id: number): Catalog | undefined {
    const found = this.#held.get(id);
    if (found === undefined) return undefined;
    this.#held.delete(id);
    this.#held.set(id, found);
    return found.catalog;
  }

  /** @param chars the approximate size of the catalog. */
  keep(id: number, catalog: Catalog, chars: number): void {
    this.forget(id);
    if (chars > MAX_CHARS) return;
    this.#held.set(id, { catalog, chars });
    this.#chars += chars;
    for (const other of this.#held.keys()) {
      if (this.#chars <= MAX_CHARS) break;
      this.forget(other);
    }
  }

  forget(id: number): void {
    this.#chars -= this.#held.get(id)?.chars ?? 0;
    this.#held.delete(id);
  }
}
