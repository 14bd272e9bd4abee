/** The entries of one server by kind of client: their facts in memory, their catalogs in the store. */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { eraOf } from "../../protocol/revisions.ts";
import { type ClientKind, clientKey } from "../../endpoint/client-kind.ts";
import type { Catalog, ListFault } from "../catalog.ts";
import { LIST_TOPICS } from "../feeds.ts";
import type { ListTopic } from "../topics.ts";
import {
  type CatalogEntry,
  entryFrom,
  isMissed,
  isOwed,
  newEntry,
  newestOf,
} from "./catalog-entry.ts";
import type { CatalogStore, Part } from "./catalog-store.ts";

type Change = Partial<Pick<CatalogEntry, "outage" | "outdated" | "unannounced">>;

/** Many feeds may share the memory of one isolate. A large catalog is read from its rows each time. */
const MAX_HELD_CHARS = 2 * 1024 * 1024;

const TOPICS: Readonly<Record<Part, ListTopic | undefined>> = {
  // Clients receive a server's description of itself when a session begins, and never again.
  about: undefined,
  tools: "tools",
  resources: "resources",
  templates: "resources",
  prompts: "prompts",
};

export class CatalogEntries {
  readonly #store: CatalogStore;
  readonly #max: number;
  readonly #isWanted: () => boolean;
  readonly #onForgotten: () => void;
  /** By id. */
  readonly #held = new BoundedCache<Catalog>({ maxWeight: MAX_HELD_CHARS });
  /** The least recently requested entry is the first. */
  readonly #entries = new Map<string, CatalogEntry>();
  #nextId = 1;

  /**
   * @param isWanted whether any client has subscribed to changes.
   * @param onForgotten called when an entry is evicted of which a caller was still to be told something.
   */
  constructor(store: CatalogStore, max: number, isWanted: () => boolean, onForgotten: () => void) {
    this.#store = store;
    this.#max = max;
    this.#isWanted = isWanted;
    this.#onForgotten = onForgotten;
    for (const stored of store.load()) {
      const entry = entryFrom(stored);
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
   * own: a caller that invents kinds of clients must not evict good catalogs. A catalog that is being read again
   * stays until that ends: somebody may have been given the one of before, and is told of what is new. One that is
   * still to be read again for that stays as well, unless there are twice as many entries.
   */
  makeRoom(): void {
    for (const isKnown of [true, false]) {
      const alike = this.all().filter(({ facts }) => (facts !== undefined) === isKnown);
      for (const [index, entry] of alike.slice(0, -this.#max).entries()) {
        const { key, id, refresh } = entry;
        const isAwaited = index >= alike.length - 2 * this.#max && this.#isAwaited(entry);
        if (isKnown && (refresh !== undefined || isAwaited)) continue;
        this.#entries.delete(key);
        this.#held.delete(String(id));
        this.#store.drop(id);
        if (isOwed(entry)) this.#onForgotten();
      }
    }
  }

  #isAwaited(entry: CatalogEntry): boolean {
    return isMissed(entry) && this.#isWanted();
  }

  /** The newest good entry of the same era: a server lists nearly the same to all its clients. */
  nearest(
    { client }: CatalogEntry,
    isGood: (entry: CatalogEntry) => boolean,
  ): CatalogEntry | undefined {
    const era = eraOf(client.revision);
    const alike = this.all().filter((entry) => eraOf(entry.client.revision) === era);
    return newestOf(alike.filter(isGood));
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

  /**
   * @param before the entry with the catalog that is replaced.
   * @returns the lists that changed, and those that the server returns again: whoever was told of their trouble is
   *   told that it is over.
   */
  replace(before: CatalogEntry, entry: CatalogEntry, catalog: Catalog): ReadonlySet<ListTopic> {
    const faults = before.facts?.fault === undefined ? [] : (this.load(before)?.faults ?? []);
    const isOver = ({ list }: ListFault): boolean =>
      catalog.faults.every((fault) => fault.list !== list);
    const mended = faults.filter(isOver).map(({ list }) => list);
    const changed = [...mended, ...this.#store.replace(entry, catalog)];
    entry.savedAt = entry.readAt;
    this.#hold(entry, catalog);
    return new Set(changed.flatMap((part) => TOPICS[part] ?? []));
  }

  load(entry: CatalogEntry): Catalog | undefined {
    const catalog = this.#held.get(String(entry.id)) ?? this.#store.read(entry);
    if (catalog !== undefined) this.#hold(entry, catalog);
    return catalog;
  }

  /**
   * Marks lists as changed, also in the store: memory may go before they are read again. All clients that have
   * subscribed are told.
   */
  outdate(topics: readonly ListTopic[], butFor?: CatalogEntry): void {
    for (const entry of this.all()) {
      if (entry === butFor) continue;
      for (const topic of topics) entry.refresh?.told.add(topic);
      const unannounced = entry.unannounced.filter((topic) => !topics.includes(topic));
      this.#outdate(entry, topics, unannounced);
    }
  }

  /**
   * As `outdate`, where nobody is told, or one client alone: the others are when a reading finds the change.
   *
   * @returns those of which no reading will find it.
   */
  outdateUnannounced(topics: readonly ListTopic[], now: number): readonly ListTopic[] {
    const isFound = new Set<ListTopic>();
    for (const entry of this.all()) {
      const { facts, outage, outdated, unannounced, refresh } = entry;
      // Whoever was told of the last change has not been given the list since: it is told of this one as well.
      const isTold = (topic: ListTopic): boolean =>
        refresh === undefined && outdated.includes(topic) && !unannounced.includes(topic);
      const left = topics.filter((topic) => !isTold(topic));
      // The reading under way announces nothing of what all were told before it, and may include this change.
      const isCompared = facts !== undefined && outage === undefined;
      for (const topic of left)
        if (isCompared && refresh?.told.has(topic) !== true) isFound.add(topic);
      if (unannounced.length === 0) entry.unannouncedAt = now;
      this.#outdate(entry, topics, [...new Set([...unannounced, ...left])]);
    }
    return topics.filter((topic) => !isFound.has(topic));
  }

  /**
   * Somebody was given the lists of before, or none: that they were told of changes does not count any more. It is
   * stored, since the life that reads the lists may be lost.
   */
  markUnannounced(entry: CatalogEntry): void {
    if (entry.unannounced.length === LIST_TOPICS.length) return;
    this.save(entry, { outdated: LIST_TOPICS, unannounced: LIST_TOPICS });
  }

  #outdate(
    entry: CatalogEntry,
    topics: readonly ListTopic[],
    unannounced: readonly ListTopic[],
  ): void {
    for (const topic of topics) entry.refresh?.missed.add(topic);
    const outdated = [...new Set([...entry.outdated, ...topics])];
    const isSame =
      outdated.length === entry.outdated.length && unannounced.length === entry.unannounced.length;
    if (!isSame) this.save(entry, { outdated, unannounced });
  }

  #hold({ id, facts }: CatalogEntry, catalog: Catalog): void {
    this.#held.set(String(id), catalog, facts?.chars);
  }
}
