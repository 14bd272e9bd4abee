/** The catalogs of one server, by kind of client: in memory what is small, on the shelf the rest. */

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
  /** The one that was asked for the longest ago is the first. */
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

  /** Makes room for it if it is new, among those without a catalog. */
  of(client: ClientKind): CatalogEntry {
    const key = clientKey(client);
    const entry = this.#entries.get(key) ?? newEntry(this.#nextId++, client);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.makeRoom();
    return entry;
  }

  /**
   * The ones that were asked for the longest ago go. Those without a catalog have room of their own:
   * whoever makes up kinds of clients must not push out what is good.
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

  /** The newest good one of a kind of its era: servers list nearly the same to all of these. */
  nearest(
    { client }: CatalogEntry,
    isGood: (entry: CatalogEntry) => boolean,
  ): CatalogEntry | undefined {
    const era = eraOf(client.revision);
    const alike = this.all().filter((entry) => eraOf(entry.client.revision) === era);
    return alike.filter(isGood).toSorted((a, b) => b.readAt - a.readAt)[0];
  }

  /** `false` once it had to make room. */
  has(entry: CatalogEntry): boolean {
    return this.#entries.get(entry.key) === entry;
  }

  save(entry: CatalogEntry, change: Change = {}): void {
    Object.assign(entry, change);
    entry.savedAt = entry.readAt;
    if (this.has(entry)) this.#store.save(entry);
  }

  /** @returns the lists that are not as they were. */
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

  /** These lists have changed; written down, for memory may go before they are read again. */
  outdate(topics: readonly ListTopic[], butFor?: CatalogEntry): void {
    for (const entry of this.all()) {
      if (entry === butFor) continue;
      for (const topic of topics) entry.refresh?.missed.add(topic);
      const outdated = [...new Set([...entry.outdated, ...topics])];
      if (outdated.length > entry.outdated.length) this.save(entry, { outdated });
    }
  }
}
