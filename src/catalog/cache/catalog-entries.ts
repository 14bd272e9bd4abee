/** The catalogs of one server by kind of client: small ones in memory, the rest in the store. */

import { type ClientKind, clientKey } from "../../endpoint/client-kind.ts";
import type { Catalog } from "../catalog.ts";
import { eraOf } from "../../protocol/revisions.ts";
import { type CatalogEntry, entryFrom, newEntry } from "./catalog-entry.ts";
import { HeldCatalogs } from "./catalog-held.ts";
import type { CatalogStore } from "./catalog-store.ts";
import type { ListTopic } from "../topics.ts";
import { topicsOf } from "./catalog-topics.ts";

type Change = Partial<Pick<CatalogEntry, "outage" | "outdated">>;

export class CatalogEntries {
  readonly #store: CatalogStore;
  readonly #max: number;
  readonly #held = new HeldCatalogs();
  /** The least recently requested entry is the first. */
  readonly #entries = new Map<string, CatalogEntry>();
  #nextId = 1;

  constructor(store: CatalogStore, max: number) {
    this.#store = store;
    this.#max = max;
    for (const shelved of store.load()) {
      const entry = entryFrom(shelved);
      this.#entries.set(entry.key, entry);
      this.#nextId = Math.max(this.#nextId, entry.id + 1);
    }
  }

  all(): readonly CatalogEntry[] {
    return [...this.#entries.values()];
  }

  /** @returns the entry of this kind of client; a new one may evict entries without a catalog. */
  of(client: ClientKind): CatalogEntry {
    const key = clientKey(client);
    const entry = this.#entries.get(key) ?? newEntry(this.#nextId++, client);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.makeRoom();
    return entry;
  }

  /**
   * Evicts the least recently requested entries. Entries without a catalog have a limit of their
   * own: a caller that invents kinds of clients must not evict good catalogs.
   */
  makeRoom(): void {
    for (const isKnown of [true, false]) {
      const alike = this.all().filter(({ facts }) => (facts !== undefined) === isKnown);
      for (const { key, id } of alike.slice(0, Math.max(0, alike.length - this.#max))) {
        this.#entries.delete(key);
        this.#held.forget(id);
        this.#store.drop(id);
      }
    }
  }

  /** The newest good entry of the same era: a server lists nearly the same to all its clients. */
  nearest(
    { client }: CatalogEntry,
    isGood: (entry: CatalogEntry) => boolean,
  ): CatalogEntry | undefined {
    const era = eraOf(client.revision);
    const alike = this.all().filter((entry) => eraOf(entry.client.revision) === era);
    return alike.filter(isGood).toSorted((a, b) => b.readAt - a.readAt)[0];
  }

  /** @returns `false` once the entry was evicted. */
  has(entry: CatalogEntry): boolean {
    return this.#entries.get(entry.key) === entry;
  }

  save(entry: CatalogEntry, change: Change = {}): void {
    Object.assign(entry, change);
    entry.savedAt = entry.readAt;
    if (this.has(entry)) this.#store.save(entry);
  }

  /** @returns the lists that changed. */
  replace(entry: CatalogEntry, catalog: Catalog): ReadonlySet<ListTopic> {
    const changed = topicsOf(this.#store.replace(entry, catalog));
    entry.savedAt = entry.readAt;
    this.#held.keep(entry.id, catalog, entry.facts?.chars ?? 0);
    return changed;
  }

  load(entry: CatalogEntry): Catalog | undefined {
    const held = this.#held.of(entry.id);
    if (held !== undefined) return held;
    const read = this.#store.read(entry);
    if (read !== undefined) this.#held.keep(entry.id, read, entry.facts?.chars ?? 0);
    return read;
  }

  /** Marks lists as changed, also in the store: memory may go before they are read again. */
  outdate(topics: readonly ListTopic[], butFor?: CatalogEntry): void {
    for (const entry of this.all()) {
      if (entry === butFor) continue;
      for (const topic of topics) entry.refresh?.missed.add(topic);
      const outdated = [...new Set([...entry.outdated, ...topics])];
      if (outdated.length > entry.outdated.length) this.save(entry, { outdated });
    }
  }
}
