/** The catalogs of one server, by kind of client: in memory what is small, on the shelf the rest. */

import type { Catalog, ClientKind } from "../catalog/catalog.ts";
import { clientKey } from "../client-kind.ts";
import { eraOf } from "../../protocol/revisions.ts";
import { type Entry, entryFrom, newEntry } from "./catalog-entry.ts";
import { HeldCatalogs } from "./catalog-held.ts";
import type { CatalogShelf } from "./catalog-shelf.ts";
import type { ListTopic } from "./topics.ts";
import { topicsOf } from "./catalog-topics.ts";

type Change = Partial<Pick<Entry, "outage" | "outdated">>;

export class CatalogEntries {
  readonly #shelf: CatalogShelf;
  readonly #max: number;
  readonly #held = new HeldCatalogs();
  /** The one that was asked for the longest ago is the first. */
  readonly #entries = new Map<string, Entry>();
  #nextId = 1;

  constructor(shelf: CatalogShelf, max: number) {
    this.#shelf = shelf;
    this.#max = max;
    for (const shelved of shelf.load()) {
      const entry = entryFrom(shelved);
      this.#entries.set(entry.key, entry);
      this.#nextId = Math.max(this.#nextId, entry.id + 1);
    }
  }

  all(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  /** Makes room for it if it is new, among those without a catalog. */
  of(client: ClientKind): Entry {
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
        this.#shelf.drop(id);
      }
    }
  }

  /** The newest good one of a kind of its era: servers list nearly the same to all of these. */
  nearest({ client }: Entry, isGood: (entry: Entry) => boolean): Entry | undefined {
    const era = eraOf(client.revision);
    const alike = this.all().filter((entry) => eraOf(entry.client.revision) === era);
    return alike.filter(isGood).toSorted((a, b) => b.readAt - a.readAt)[0];
  }

  /** `false` once it had to make room. */
  has(entry: Entry): boolean {
    return this.#entries.get(entry.key) === entry;
  }

  save(entry: Entry, change: Change = {}): void {
    Object.assign(entry, change);
    entry.savedAt = entry.readAt;
    if (this.has(entry)) this.#shelf.save(entry);
  }

  /** @returns the lists that are not as they were. */
  replace(entry: Entry, catalog: Catalog): ReadonlySet<ListTopic> {
    const changed = topicsOf(this.#shelf.replace(entry, catalog));
    entry.savedAt = entry.readAt;
    this.#held.keep(entry.id, catalog, entry.facts?.chars ?? 0);
    return changed;
  }

  load(entry: Entry): Catalog | undefined {
    const held = this.#held.of(entry.id);
    if (held !== undefined) return held;
    const read = this.#shelf.read(entry);
    if (read !== undefined) this.#held.keep(entry.id, read, entry.facts?.chars ?? 0);
    return read;
  }

  /** These lists have changed; written down, for memory may go before they are read again. */
  outdate(topics: readonly ListTopic[], butFor?: Entry): void {
    for (const entry of this.all()) {
      if (entry === butFor) continue;
      for (const topic of topics) entry.refresh?.missed.add(topic);
      const outdated = [...new Set([...entry.outdated, ...topics])];
      if (outdated.length > entry.outdated.length) this.save(entry, { outdated });
    }
  }
}
