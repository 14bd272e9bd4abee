/** What a keeper knows of the catalog of one kind of client, and how good that still is. */

import { type ClientKind, clientKey } from "../../endpoint/client-kind.ts";
import { type Catalog, type CatalogQuestion, LIST_KINDS } from "../catalog.ts";
import type { ReadCatalog } from "../read/read-catalog.ts";
import type { Outage } from "./catalog-outage.ts";
import type { Facts, StoredCatalog } from "./catalog-store.ts";
import type { ListTopic } from "../topics.ts";
import { topicsHad } from "./catalog-topics.ts";

/** One reading of a catalog, as it was when it began. */
export interface CatalogReading {
  readonly startedAt: number;
  /** What was known to have changed: it brings that. */
  readonly brings: readonly ListTopic[];
  /** What the server would have told of, from the beginning on. */
  readonly covered: ReadonlySet<ListTopic>;
  /** What has changed since: it may not have seen that. */
  readonly missed: Set<ListTopic>;
}

export interface Refresh extends CatalogReading {
  /** Never rejects. Has the catalog, if it was had. */
  readonly done: Promise<{ readonly catalog: Catalog | undefined }>;
}

export interface CatalogEntry extends StoredCatalog {
  readonly key: string;
  facts: Facts | undefined;
  readAt: number;
  outdated: readonly ListTopic[];
  outage: Outage | undefined;
  /** When it was last written as it is. */
  savedAt: number;
  covered: ReadonlySet<ListTopic>;
  refresh: Refresh | undefined;
  /** Somebody was told that it is not to be had, or is the last good one. */
  owesAll: boolean;
  /** Somebody got it although a newer one was on its way. */
  gaveOld: boolean;
  /** A caller found that it does not say what the server does. */
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
    // Whoever was told of it is not known any more.
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

/** While the server tells of changes, its lists are looked at again after this all the same. */
const COVERED_MS = 10 * 60_000;
/** No word of a server is believed for longer. */
const MAX_FRESH_MS = 24 * 3_600_000;

export interface Freshness {
  readonly isFresh: boolean;
  /** For how long nothing else is to be expected, as far as the server lets one say. */
  readonly freshMs: number;
}

const STALE: Freshness = { isFresh: false, freshMs: 0 };

/**
 * @param covers whether the server would tell of a change. A server that tells is believed: its
 *   catalog is then as good as if it had been read just now.
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
  // A clock that was set back.
  if (age < 0) return STALE;
  const { ttlMs = defaultMs, topics, fault } = facts;
  // A list that was not given is asked for again, whatever the server says of the others.
  const lifeMs = Math.min(ttlMs, fault === undefined ? MAX_FRESH_MS : defaultMs);
  const isCovered =
    fault === undefined &&
    topics.length > 0 &&
    topics.every((each) => covered.has(each) && covers(each));
  if (isCovered && age < COVERED_MS) return { isFresh: true, freshMs: lifeMs };
  return age < lifeMs ? { isFresh: true, freshMs: lifeMs - age } : STALE;
}

const DOUBT_MS = 1000;

/** Whoever doubts what was read just now is to ask again later: it would be read for each of them. */
export function isDoubted(entry: CatalogEntry, question: CatalogQuestion, now: number): boolean {
  const { facts, readAt } = entry;
  const isKnown = facts !== undefined && question.known === facts.version;
  return question.isDoubted === true && isKnown && now - readAt >= DOUBT_MS;
}

/** That a catalog is still good is written down this often. */
const SAVE_MS = 3_600_000;

/** That it is as it was is not worth a row each time. */
export function isWorthSaving(before: CatalogEntry, { facts, readAt }: CatalogEntry): boolean {
  return (
    before.outage !== undefined ||
    before.outdated.length > 0 ||
    before.facts?.ttlMs !== facts?.ttlMs ||
    Math.abs(readAt - before.savedAt) >= SAVE_MS
  );
}

/** What is missing of a server that is there is asked for this often while nobody lists. */
const FAULT_PAUSE_MS = 60_000;

/** When the server is to be asked again though nobody lists; `undefined` while it is well. */
export function retryAt({ outage, facts, readAt }: CatalogEntry): number | undefined {
  if (outage !== undefined) return outage.retryAt;
  return facts?.fault === undefined ? undefined : readAt + FAULT_PAUSE_MS;
}
