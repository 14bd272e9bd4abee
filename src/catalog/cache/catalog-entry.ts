/**
 * The state of the catalog for one kind of client, and its transitions. All of it is pure: the cache
 * passes the time and does the reading. An entry is in one of four states:
 *
 * - `unknown`: no catalog was read yet, and no attempt has failed.
 * - `fresh`: no change is expected.
 * - `stale`: the catalog may have changed. Its lifetime is over, the server has announced a change, or
 *   the server's behaviour contradicted it.
 * - `failed`: the last attempt failed. The last good catalog is served with the trouble, up to the limit
 *   `staleCatalogHours`; the server is asked again after a pause, which grows with each failure.
 *
 * In every state but `fresh`, a question or the alarm starts a refresh, unless the pause of `failed` is not
 * over. There is one refresh at a time (`refresh`). It ends in `failed`; or in `fresh`; or in `stale`, if
 * a change was announced while it ran, because it may not include that change.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import type { HealthState, ServerHealth } from "../../observability/health.ts";
import { type ClientKind, clientKey } from "../../endpoint/client-kind.ts";
import {
  type Catalog,
  type CatalogQuestion,
  LIST_KINDS,
  type ListFault,
  type Trouble,
} from "../catalog.ts";
import { LIST_TOPICS } from "../feeds.ts";
import type { ReadCatalog } from "../read/read-catalog.ts";
import type { ListTopic } from "../topics.ts";
import type { Facts, StoredCatalog } from "./catalog-store.ts";

export type CatalogState = "unknown" | "fresh" | "stale" | "failed";

/** One reading of a catalog, in its state at the beginning. */
export interface CatalogReading {
  readonly startedAt: number;
  /** The topics of whose changes clients were told before the reading, which includes these changes, or during it. */
  readonly told: Set<ListTopic>;
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
  unannounced: readonly ListTopic[];
  /** The time of the first report that made one of them `unannounced`. */
  unannouncedAt: number;
  outage: Outage | undefined;
  /** The `readAt` of the entry when it was last stored. */
  savedAt: number;
  covered: ReadonlySet<ListTopic>;
  refresh: Refresh | undefined;
  /** A caller received no catalog, or that of an outage: the next one is announced. */
  servedTrouble: boolean;
  /**
   * A caller received the stale catalog while a newer one was being read: its changes are announced, those included
   * that came while it was read.
   */
  servedStale: boolean;
  /** The server's behaviour contradicted the catalog. */
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
    unannounced: [],
    unannouncedAt: 0,
    outage: undefined,
    savedAt: 0,
    covered: new Set(),
    refresh: undefined,
    servedTrouble: false,
    servedStale: false,
    isDoubted: false,
  };
}

export function entryFrom(stored: StoredCatalog): CatalogEntry {
  const wasAwaited = stored.facts === undefined && stored.unannounced.length > 0;
  return {
    ...newEntry(stored.id, stored.client),
    ...stored,
    savedAt: stored.readAt,
    // It is no longer known which clients learned of the outage, or of a server that had not answered yet.
    servedTrouble: stored.outage !== undefined || wasAwaited,
  };
}

/**
 * The entry after a successful reading.
 *
 * @param knownChange when the lists last changed as clients of other kinds have them: these are new, and no change.
 */
export function afterReading(
  entry: CatalogEntry,
  read: ReadCatalog,
  { startedAt, missed, covered }: CatalogReading,
  knownChange?: number,
): CatalogEntry {
  const before = entry.facts;
  const isSame = before?.version === read.catalog.version;
  const first = before === undefined ? (knownChange ?? startedAt) : startedAt;
  const changedAt = isSame ? (before?.changedAt ?? entry.readAt) : first;
  return {
    ...entry,
    facts: factsOf(read, changedAt),
    readAt: startedAt,
    outdated: [...missed],
    unannounced: entry.unannounced.filter((topic) => missed.has(topic)),
    outage: undefined,
    covered,
    servedTrouble: false,
    servedStale: false,
    isDoubted: false,
  };
}

function factsOf({ catalog, ttlMs, found }: ReadCatalog, changedAt: number): Facts {
  const { version, lists, about, faults } = catalog;
  const { tools, resources, templates, prompts } = lists;
  const [fault] = faults;
  const items = LIST_KINDS.flatMap((list) => lists[list]);
  return {
    version,
    ...(ttlMs === undefined ? {} : { ttlMs }),
    counts: {
      tools: tools.length,
      resources: resources.length,
      templates: templates.length,
      prompts: prompts.length,
    },
    ...(fault === undefined ? {} : { fault }),
    topics: LIST_TOPICS.filter((topic) => about.capabilities[topic] !== undefined),
    chars: items.reduce((sum, { name, text }) => sum + name.length + text.length, 0),
    changedAt,
    ...(found === undefined ? {} : { found }),
  };
}

/** The pause before the missing lists of an available server are read again without a request. */
const FAULT_PAUSE_MS = 60_000;

/** Even while the server announces changes, its lists are read again after this time. */
const COVERED_MS = 10 * 60_000;
/** The upper limit for a server's `ttlMs`. */
const MAX_FRESH_MS = 24 * 3_600_000;

/**
 * @param covers whether the server would announce a change. If it would, its catalog counts as
 *   read just now.
 * @returns the state, and the milliseconds for which no change is expected, as far as the server
 *   indicates it.
 */
export function stateOf(
  { facts, readAt, outdated, outage, covered, isDoubted }: CatalogEntry,
  defaultMs: number,
  covers: (topic: ListTopic) => boolean,
  now: number,
): { readonly state: CatalogState; readonly freshMs: number } {
  if (outage !== undefined) return { state: "failed", freshMs: 0 };
  if (facts === undefined) return { state: "unknown", freshMs: 0 };
  const stale = { state: "stale", freshMs: 0 } as const;
  const age = now - readAt;
  // The age is negative if the clock was set back.
  if (isDoubted || outdated.length > 0 || age < 0) return stale;
  const { ttlMs = defaultMs, topics, fault } = facts;
  // A list that the server did not return is read again, whatever the TTL of the others.
  const lifeMs = Math.min(
    ttlMs,
    fault === undefined ? MAX_FRESH_MS : Math.min(defaultMs, FAULT_PAUSE_MS),
  );
  const isCovered =
    fault === undefined &&
    topics.length > 0 &&
    topics.every((each) => covered.has(each) && covers(each));
  if (isCovered && age < COVERED_MS) return { state: "fresh", freshMs: lifeMs };
  return age < lifeMs ? { state: "fresh", freshMs: lifeMs - age } : stale;
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
    before.facts?.found?.revision !== facts?.found?.revision ||
    before.facts?.found?.transport !== facts?.found?.transport ||
    Math.abs(readAt - before.savedAt) >= SAVE_MS
  );
}

/**
 * Why the catalog could not be read, and when it is read again. There is one for each kind of client: a
 * server that hangs for requests of one era may work in the other.
 */
export interface Outage {
  readonly trouble: Trouble;
  /** Consecutive failures; 0 when a caller reported it and the catalog was not read since. */
  readonly failures: number;
  /** Milliseconds since 1970. */
  readonly failedAt: number;
  /** Before this time the server is not asked, and callers get the trouble at once. */
  readonly retryAt: number;
}

const FIRST_PAUSE_MS = 1000;
const BACKOFF: Backoff = { firstMs: FIRST_PAUSE_MS, maxMs: 60_000 };

export function afterFailure(
  before: Outage | undefined,
  failure: Omit<Trouble, "since">,
  now: number,
): Outage {
  const failures = (before?.failures ?? 0) + 1;
  const trouble = { ...failure, since: before?.trouble.since ?? now };
  return { trouble, failures, failedAt: now, retryAt: now + pauseMs(BACKOFF, failures - 1) };
}

/** The outage after a caller reports that the server is unavailable. */
export function afterReport(trouble: Trouble, now: number): Outage {
  return { trouble, failures: 0, failedAt: now, retryAt: now + FIRST_PAUSE_MS };
}

/** The server has just answered another caller, so it is tried again after the first pause. */
export function hurried(outage: Outage): Outage {
  const retryAt = Math.min(outage.retryAt, outage.failedAt + FIRST_PAUSE_MS);
  return { ...outage, retryAt };
}

/** @returns whether the pause is over. A clock that was set back delays no caller for long. */
export function isOverdue({ failedAt, retryAt }: Outage, now: number): boolean {
  return now >= retryAt || now < failedAt;
}

/** A server that failed is looked at again after this: it may be back, and somebody is waiting to see that. */
const FAILED_AGE_MS = 1000;

/** True when nobody has tried to read the catalog for that long, so that it is worth a look. */
export function isLookDue(
  { facts, readAt, outage }: CatalogEntry,
  ageMs: number,
  now: number,
): boolean {
  if (outage === undefined) return facts === undefined || Math.abs(now - readAt) >= ageMs;
  // An outage that a caller has reported was not tried since.
  if (outage.failures === 0) return true;
  return Math.abs(now - outage.failedAt) >= Math.min(ageMs, FAILED_AGE_MS);
}

/** The pause before a list is read again whose last reading missed a change: some servers report one at each reading. */
export const MISSED_PAUSE_MS = 5000;

/**
 * @returns the time of the next attempt without a request; `undefined` for a healthy server, unless there are clients
 *   that are still to hear what has changed in it.
 */
export function retryAt(entry: CatalogEntry): number | undefined {
  const { outage, facts } = entry;
  if (outage !== undefined) return outage.retryAt;
  if (isMissed(entry)) return pauseBegin(entry) + MISSED_PAUSE_MS;
  return facts?.fault === undefined ? undefined : entry.readAt + FAULT_PAUSE_MS;
}

/** A caller has an older list than the server, and nobody has told it, or will. */
export function isMissed({ servedStale, unannounced }: CatalogEntry): boolean {
  return servedStale || unannounced.length > 0;
}

/** Some caller is to be told what the next reading brings. */
export function isOwed(entry: CatalogEntry): boolean {
  return entry.servedTrouble || isMissed(entry);
}

/** It is to be read only since something may have changed of which not everybody was told. */
export function isOnlyUnannounced({ outage, servedStale, unannounced }: CatalogEntry): boolean {
  return outage === undefined && !servedStale && unannounced.length > 0;
}

/** A server that announces a change by itself does so within the pause after it has reported it to one client. */
function pauseBegin({ readAt, unannounced, unannouncedAt }: CatalogEntry): number {
  return unannounced.length > 0 ? Math.max(readAt, unannouncedAt) : readAt;
}

/** Whether an available server is read again without a request. A clock that was set back delays nobody for long. */
export function isRetryDue(entry: CatalogEntry, now: number): boolean {
  const at = retryAt(entry);
  return entry.outage === undefined && at !== undefined && (now >= at || now < pauseBegin(entry));
}

export type Condition = Pick<ServerHealth, "state" | "trouble" | "seenAt" | "changedAt" | "counts">;

const NOTHING: Condition["counts"] = { tools: 0, resources: 0, templates: 0, prompts: 0 };

/**
 * The condition of a server, as the last attempt to read its catalogs shows it.
 *
 * @param reported the report of a caller, if there was no attempt since.
 * @param isServable whether an entry has a catalog that is young enough to be shown.
 */
export function conditionOf(
  entries: readonly CatalogEntry[],
  reported: Trouble | undefined,
  isServable: (entry: CatalogEntry) => boolean,
): Condition {
  const newest = newestOf(entries.filter(({ facts }) => facts !== undefined));
  const trouble =
    reported ?? lastTrouble(entries, newest?.readAt ?? 0) ?? faultOf(newest?.facts?.fault);
  const healthy: HealthState = newest === undefined ? "unknown" : "healthy";
  const failing: HealthState = entries.some(isServable) ? "failing" : "down";
  return {
    state: trouble === undefined ? healthy : failing,
    ...(trouble === undefined ? {} : { trouble }),
    ...(newest === undefined ? {} : { seenAt: newest.readAt }),
    ...(newest?.facts?.changedAt === undefined ? {} : { changedAt: newest.facts.changedAt }),
    counts: newest?.facts?.counts ?? NOTHING,
  };
}

export function newestOf(entries: readonly CatalogEntry[]): CatalogEntry | undefined {
  return entries.toSorted((a, b) => b.readAt - a.readAt)[0];
}

/** A server that does not return all of its lists is available but not healthy. */
function faultOf(fault: ListFault | undefined): Trouble | undefined {
  if (fault === undefined) return undefined;
  const { reason, message, since } = fault;
  return { reason, message, since };
}

function lastTrouble(entries: readonly CatalogEntry[], seenAt: number): Trouble | undefined {
  const outages = entries
    .flatMap(({ outage }) => outage ?? [])
    // A server that does not speak an era is not in trouble.
    .filter(({ trouble, failedAt }) => trouble.reason !== "other-era" && failedAt >= seenAt);
  return outages.toSorted((a, b) => b.failedAt - a.failedAt)[0]?.trouble;
}
