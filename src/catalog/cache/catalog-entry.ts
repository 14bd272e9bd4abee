/** The known facts about the catalog of one kind of client, and their freshness. */

import { type ClientKind, clientKey } from "../../endpoint/client-kind.ts";
import { type Catalog, type CatalogQuestion, LIST_KINDS } from "../catalog.ts";
import type { ReadCatalog } from "../read/read-catalog.ts";
import type { Outage } from "./catalog-outage.ts";
import type { Facts, StoredCatalog } from "./catalog-store.ts";
import type { ListTopic } from "../topics.ts";
import { topicsHad } from "./catalog-topics.ts";

/** One reading of a catalog, in its state at the beginning. */
export interface CatalogReading {
  readonly startedAt: number;
  /** The topics known to have changed before the reading: it includes these changes. */
  readonly brings: readonly ListTopic[];
  /** The topics whose changes the server would have announced from the beginning on. */
  readonly covered: ReadonlySet<ListTopic>;
  /** The topics that have changed since: the reading may not include these changes. */
  readonly missed: Set<ListTopic>;
}

export interface Refresh extends CatalogReading {
  /** Never rejects. Resolves with the catalog if it was read. */
  readonly done: Promise<{ readonly catalog: Catalog | undefined }>;
}

export interface CatalogEntry extends StoredCatalog {
  readonly key: string;
  facts: Facts | undefined;
  readAt: number;
  outdated: readonly ListTopic[];
  outage: Outage | undefined;
  /** The `readAt` of the entry when it was last stored. */
  savedAt: number;
  covered: ReadonlySet<ListTopic>;
  refresh: Refresh | undefined;
  /** A caller received no catalog, or only the last good one. */
  owesAll: boolean;
  /** A caller received the old catalog although a newer one was being read. */
  gaveOld: boolean;
  /** A caller found that the server behaves differently from its catalog. */
  isDoubted: boolean;
}

export function newEntry(id: number, client: ClientKind): CatalogEntry {
  return {
    id,
    client,
    key: clientKey(client),
    facts: undefined,
    readAt: 0,
    outdated: [],
    outage: undefined,
    savedAt: 0,
    covered: new Set(),
    refresh: undefined,
    owesAll: false,
    gaveOld: false,
    isDoubted: false,
  };
}

export function entryFrom(shelved: StoredCatalog): CatalogEntry {
  return {
    ...newEntry(shelved.id, shelved.client),
    ...shelved,
    savedAt: shelved.readAt,
    // It is no longer known which callers learned of the outage.
    owesAll: shelved.outage !== undefined,
  };
}

export function storedFactsOf({ catalog, ttlMs }: ReadCatalog): Facts {
  const { version, lists, about, faults } = catalog;
  const [fault] = faults;
  const counts = LIST_KINDS.map((list) => [list, lists[list].length] as const);
  const chars = LIST_KINDS.flatMap((list) => lists[list]);
  return {
    version,
    ...(ttlMs === undefined ? {} : { ttlMs }),
    counts: Object.fromEntries(counts) as Facts["counts"],
    ...(fault === undefined ? {} : { fault }),
    topics: topicsHad(about),
    chars: chars.reduce((sum, { name, text }) => sum + name.length + text.length, 0),
  };
}

/** Even while the server announces changes, its lists are read again after this time. */
const COVERED_MS = 10 * 60_000;
/** The upper limit for a server's `ttlMs`. */
const MAX_FRESH_MS = 24 * 3_600_000;

export interface Freshness {
  readonly isFresh: boolean;
  /** Milliseconds for which no change is expected, as far as the server indicates it. */
  readonly freshMs: number;
}

const STALE: Freshness = { isFresh: false, freshMs: 0 };

/**
 * @param covers whether the server would announce a change. If it would, its catalog counts as
 *   read just now.
 */
export function freshness(
  { facts, readAt, outdated, outage, covered, isDoubted }: CatalogEntry,
  defaultMs: number,
  covers: (topic: ListTopic) => boolean,
  now: number,
): Freshness {
  if (facts === undefined || outage !== undefined || isDoubted) return STALE;
  if (outdated.length > 0) return STALE;
  const age = now - readAt;
  // The clock was set back.
  if (age < 0) return STALE;
  const { ttlMs = defaultMs, topics, fault } = facts;
  // A list that the server did not return is read again, whatever the TTL of the others.
  const lifeMs = Math.min(ttlMs, fault === undefined ? MAX_FRESH_MS : defaultMs);
  const isCovered =
    fault === undefined &&
    topics.length > 0 &&
    topics.every((each) => covered.has(each) && covers(each));
  if (isCovered && age < COVERED_MS) return { isFresh: true, freshMs: lifeMs };
  return age < lifeMs ? { isFresh: true, freshMs: lifeMs - age } : STALE;
}

const DOUBT_MS = 1000;

/** Ignores a doubt about a catalog that was just read: each doubt would cause another reading. */
export function isDoubted(entry: CatalogEntry, question: CatalogQuestion, now: number): boolean {
  const { facts, readAt } = entry;
  const isKnown = facts !== undefined && question.known === facts.version;
  return question.isDoubted === true && isKnown && now - readAt >= DOUBT_MS;
}

/** An unchanged catalog's `readAt` is stored this often. */
const SAVE_MS = 3_600_000;

/** An unchanged catalog is not worth a write each time. */
export function isWorthSaving(before: CatalogEntry, { facts, readAt }: CatalogEntry): boolean {
  return (
    before.outage !== undefined ||
    before.outdated.length > 0 ||
    before.facts?.ttlMs !== facts?.ttlMs ||
    Math.abs(readAt - before.savedAt) >= SAVE_MS
  );
}

/** The pause before the missing lists of an available server are read again without a request. */
const FAULT_PAUSE_MS = 60_000;

/** @returns the time of the next attempt without a request; `undefined` for a healthy server. */
export function retryAt({ outage, facts, readAt }: CatalogEntry): number | undefined {
  if (outage !== undefined) return outage.retryAt;
  return facts?.fault === undefined ? undefined : readAt + FAULT_PAUSE_MS;
}
