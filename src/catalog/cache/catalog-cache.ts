/**
 * The catalogs of one server, one for each kind of client: a stale-while-revalidate cache. A fresh catalog
 * is served as it is; else the server is read again, and a caller chooses how long it waits for that.
 * `catalog-entry.ts` has the states of an entry.
 *
 * - A failed refresh keeps the last good catalog, which is served up to the limit `staleCatalogHours`.
 * - A change that is announced during a refresh is not lost: the entry stays stale after it.
 * - Everything but the refresh itself is stored, so the next life of the holding object continues here.
 */

import { settleWithin } from "../../lib/time-out.ts";
import type { FoundServer } from "../../observability/health.ts";
import { logServer } from "../../observability/server-log.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import type { Limits } from "../../policy/limits.ts";
import { causeOf, logFailure, UpstreamError } from "../../upstream/upstream-error.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import {
  type Catalog,
  type CatalogAnswer,
  type CatalogQuestion,
  SLOW,
  type Trouble,
} from "../catalog.ts";
import { LIST_TOPICS, type LookReason, type Topic } from "../feeds.ts";
import type { ReadCatalog } from "../read/read-catalog.ts";
import { isListTopic, type ListTopic } from "../topics.ts";
import { CatalogEntries } from "./catalog-entries.ts";
import {
  afterFailure,
  afterReading,
  afterReport,
  type CatalogEntry,
  type CatalogReading,
  type Condition,
  conditionOf,
  hurried,
  isDoubted,
  isOnlyUnannounced,
  isOwed,
  isOverdue,
  isRetryDue,
  isWorthSaving,
  MISSED_PAUSE_MS,
  newestOf,
  type Refresh,
  retryAt,
  stateOf,
} from "./catalog-entry.ts";
import { CatalogRefreshes, type RefreshParts } from "./catalog-refreshes.ts";
import { CatalogStore, type CatalogStorage } from "./catalog-store.ts";
import { ChangeAnnouncer } from "./change-announcer.ts";
import type { ServerHistory } from "./server-history.ts";
import { ServerLooks } from "./server-looks.ts";

export interface CatalogCacheParts extends RefreshParts {
  /** The server's URL: catalogs that were read from another URL are deleted. */
  readonly endpoint: string;
  readonly storage: CatalogStorage;
  readonly limits: Pick<
    Limits,
    "catalogFreshSeconds" | "catalogSeconds" | "keptCatalogsPerServer" | "staleCatalogHours"
  >;
  readonly announce: (topics: readonly Topic[]) => void;
  /** Some client has subscribed to changes. */
  readonly isWanted: () => boolean;
  readonly history: Pick<ServerHistory, "looked" | "changed">;
  /** `dueAt` may have changed. */
  readonly onDue: () => void;
}

const HOUR_MS = 3_600_000;
/** An object that is lost while it reads the server is woken after this. */
const WATCHDOG_MS = 30_000;

export class CatalogCache {
  readonly #parts: CatalogCacheParts;
  readonly #entries: CatalogEntries;
  readonly #announcer: ChangeAnnouncer;
  readonly #looks: ServerLooks;
  readonly #refreshes: CatalogRefreshes;
  /** The last report of a caller, if there was no attempt since. */
  #reported: Trouble | undefined;
  /** When the next catalog is read of whose changes not everybody was told. */
  #nextUnannouncedAt = 0;
  #logged: Condition;

  constructor(parts: CatalogCacheParts) {
    this.#parts = parts;
    const store = new CatalogStore(parts.storage, parts.endpoint);
    const { keptCatalogsPerServer: most } = parts.limits;
    this.#entries = new CatalogEntries(
      store,
      most,
      () => parts.isWanted(),
      () => this.#forgot(),
    );
    this.#refreshes = new CatalogRefreshes(parts, this.#entries, {
      succeeded: (entry, read, reading) => this.#succeeded(entry, read, reading),
      failed: (entry, error) => this.#failedWith(entry, error),
      ended: () => {
        this.#logChange();
        parts.onDue();
      },
    });
    this.#looks = new ServerLooks(
      parts,
      this.#entries,
      (entry) => this.#refreshes.begin(entry).done,
    );
    const { sql } = parts.storage;
    this.#announcer = new ChangeAnnouncer({ announce: parts.announce, now: parts.now, sql });
    this.#logged = this.condition();
  }

  /** The answer carries any trouble with the server. */
  async catalog(question: CatalogQuestion): Promise<CatalogAnswer> {
    const { client, waitMs } = question;
    const entry = this.#entries.of(client);
    const { now } = this.#parts;
    const askedAt = now();
    if (isDoubted(entry, question, askedAt)) entry.isDoubted = true;
    let read: Catalog | undefined;
    // The answer includes every change before the question: an older reading is not enough.
    for (let isEnough = false; !isEnough;) {
      const refresh = this.#refreshIfDue(entry);
      if (refresh === undefined) break;
      isEnough = refresh.missed.size === 0;
      // For a failing server, the wait counts from the start of the attempt.
      const since = entry.outage === undefined ? askedAt : refresh.startedAt;
      const leftMs = since + waitMs - now();
      const ended = leftMs > 0 ? await settleWithin(refresh.done, leftMs) : undefined;
      if (ended === undefined) break;
      read = ended.catalog;
    }
    if (this.#isOver) return this.#none(entry, true);
    const answer = this.#answer(entry, question, read);
    // It was evicted while the caller waited.
    if (!this.#entries.has(entry) && isOwed(entry)) this.#forgot();
    return answer;
  }

  /** @param client the kind of client, where none has asked yet. */
  look(reason: LookReason, client: ClientKind): Promise<void> {
    return this.#looks.look(reason, client);
  }

  /**
   * The server reported that these topics changed, so it is also available.
   *
   * @param isAnnounced all subscribers are told. Else they are when a reading finds the change.
   */
  outdated(topics: readonly Topic[], isAnnounced = true): void {
    const lists = topics.filter(isListTopic);
    if (isAnnounced) {
      this.#entries.outdate(lists);
      this.#announcer.reported.told(lists);
    } else {
      this.#entries.outdateUnannounced(lists, this.#parts.now());
      this.#parts.onDue();
    }
    this.#hurry();
  }

  /**
   * The server has told one client alone, in its own session, that these changed. The others are told when a reading
   * finds the change, or after a pause where none will.
   */
  reported(topics: readonly Topic[]): void {
    const { isWanted, now, onDue } = this.#parts;
    const unread = this.#entries.outdateUnannounced(topics.filter(isListTopic), now());
    if (isWanted()) this.#announcer.reported.add(unread);
    onDue();
    this.#hurry();
  }

  /** Every branch has received what was announced. */
  sent(): void {
    if (!this.#isOver) this.#announcer.sent();
  }

  /** A list was given out of which nothing is known here: all subscribers are told that it may be another one. */
  announce(): void {
    this.#announcer.announce(LIST_TOPICS);
    this.#parts.onDue();
  }

  /** A caller found the server unavailable, or available again (`undefined`). */
  report(trouble: Trouble | undefined): void {
    this.#reported = trouble;
    if (trouble === undefined) {
      this.#hurry();
      for (const entry of this.#failed()) this.#refreshIfDue(entry);
    } else {
      const outage = afterReport(trouble, this.#parts.now());
      for (const entry of this.#entries.all()) {
        if (entry.outage === undefined) this.#entries.save(entry, { outage });
      }
    }
    this.#logChange();
    this.#parts.onDue();
  }

  /** The time to call `wake`: never, while no client has subscribed to changes. */
  get dueAt(): number | undefined {
    if (!this.#parts.isWanted()) return undefined;
    const watchdogAt = this.#parts.now() + WATCHDOG_MS;
    const retries = this.#entries.all().map((entry) => {
      if (entry.refresh !== undefined) return watchdogAt;
      const at = retryAt(entry) ?? Infinity;
      return isOnlyUnannounced(entry) ? Math.max(at, this.#nextUnannouncedAt) : at;
    });
    const first = Math.min(...retries, this.#announcer.dueAt ?? Infinity);
    return first === Infinity ? undefined : first;
  }

  /** Retries failing servers, so that a recovery is noticed without a request. */
  wake(): void {
    if (!this.#parts.isWanted()) return;
    this.#announcer.flush();
    const reported = this.#announcer.reported.due();
    this.#entries.outdate(reported);
    this.#announcer.announce(reported);
    for (const entry of this.#failed()) this.#refreshIfDue(entry);
    const now = this.#parts.now();
    const due = this.#entries.all().filter((entry) => isRetryDue(entry, now));
    for (const entry of due) if (!isOnlyUnannounced(entry)) this.#refreshIfDue(entry);
    // One after the other, that of the last question first: a change that it finds is announced to clients of all kinds.
    const last = due.findLast((entry) => isOnlyUnannounced(entry));
    const isPause =
      now < this.#nextUnannouncedAt && now >= this.#nextUnannouncedAt - MISSED_PAUSE_MS;
    if (last === undefined || isPause) return;
    this.#nextUnannouncedAt = now + MISSED_PAUSE_MS;
    this.#refreshIfDue(last);
  }

  /** The known condition of the server. */
  condition(): Condition {
    return conditionOf(this.#entries.all(), this.#reported, (entry) => this.#isServable(entry));
  }

  /** The catalog that was read last, if it may still be shown. */
  newest(): Catalog | undefined {
    const newest = newestOf(this.#entries.all().filter((entry) => this.#isServable(entry)));
    return newest && this.#entries.load(newest);
  }

  /** How the server was found to be spoken to when its lists were last read. */
  get found(): FoundServer | undefined {
    return newestOf(this.#entries.all())?.facts?.found;
  }

  get #isOver(): boolean {
    return this.#parts.over.aborted;
  }

  #stateOf(entry: CatalogEntry): ReturnType<typeof stateOf> {
    const { limits, covers, now } = this.#parts;
    return stateOf(entry, limits.catalogFreshSeconds * 1000, covers, now());
  }

  /** There is a catalog, and it is not past the hard limit. */
  #isServable({ facts, readAt }: CatalogEntry): boolean {
    const { limits, now } = this.#parts;
    return facts !== undefined && now() - readAt <= limits.staleCatalogHours * HOUR_MS;
  }

  /** @returns the running refresh; `undefined` when none is needed or the server is in a pause. */
  #refreshIfDue(entry: CatalogEntry): Refresh | undefined {
    const { refresh, outage } = entry;
    if (refresh !== undefined) return refresh;
    if (this.#stateOf(entry).state === "fresh") return undefined;
    if (outage !== undefined && !isOverdue(outage, this.#parts.now())) return undefined;
    return this.#refreshes.begin(entry);
  }

  #succeeded(entry: CatalogEntry, read: ReadCatalog, reading: CatalogReading): void {
    this.#reported = undefined;
    if (!this.#entries.has(entry)) return;
    const before = { ...entry };
    const { changedAt } = this.condition();
    const after = afterReading(before, read, reading, changedAt);
    const isOther = before.facts?.version !== after.facts?.version;
    // A failed write leaves memory unchanged too: memory and rows stay equal.
    const { catalog } = read;
    const changed = isOther ? this.#entries.replace(before, after, catalog) : new Set<ListTopic>();
    Object.assign(entry, after);
    if (before.facts === undefined) this.#entries.makeRoom();
    if (!isOther && isWorthSaving(before, entry)) this.#entries.save(entry);
    if (before.outage !== undefined) this.#hurry();
    this.#announce(entry, before, changed, reading);
  }

  /** Announces what clients do not know: changes that the server did not announce, and a recovery. */
  #announce(
    entry: CatalogEntry,
    before: CatalogEntry,
    changed: ReadonlySet<ListTopic>,
    { told: known, missed }: CatalogReading,
  ): void {
    const isKnown = (topic: ListTopic): boolean => known.has(topic) && !before.servedStale;
    const found = before.facts === undefined ? [] : [...changed].filter((each) => !isKnown(each));
    // Clients of other kinds receive the announcement as well, so their catalogs become outdated.
    if (found.length > 0) this.#entries.outdate(found, entry);
    const isRecovered = before.servedTrouble || (before.outage?.failures ?? 0) > 0;
    const told = isRecovered ? LIST_TOPICS : found;
    // A caller that was given the stale catalog is told of what this reading missed when the next one includes it.
    const isLeft = [...missed].some((topic) => !told.includes(topic));
    entry.servedStale = before.servedStale && isLeft;
    this.#announcer.announce(told);
  }

  /** What a caller was to be told is not known any more, nor who it was: all are told that there may be something new. */
  #forgot(): void {
    if (this.#parts.isWanted()) this.announce();
  }

  #failedWith(entry: CatalogEntry, error: unknown): void {
    const { slug, now } = this.#parts;
    this.#reported = undefined;
    // Logged once for each outage: the attempts go on as long as it lasts.
    if (entry.outage === undefined && error instanceof UpstreamError) logFailure(error, slug);
    const outage = afterFailure(entry.outage, troubleFrom(slug, error), now());
    this.#entries.save(entry, { outage });
  }

  #failed(): readonly CatalogEntry[] {
    return this.#entries.all().filter(({ outage }) => outage !== undefined);
  }

  /** The server has shown a sign of life, so it may work for the other kinds of clients too. */
  #hurry(): void {
    const failed = this.#failed();
    for (const entry of failed) entry.outage &&= hurried(entry.outage);
    if (failed.length > 0) this.#parts.onDue();
  }

  /** @param read the catalog that the caller has waited for. */
  #answer(
    entry: CatalogEntry,
    { known, isForRouting = false }: CatalogQuestion,
    read: Catalog | undefined,
  ): CatalogAnswer {
    // The entry was evicted meanwhile, so nothing else is known about it.
    if (read !== undefined && !this.#entries.has(entry)) {
      return { kind: "catalog", catalog: read, freshMs: 0 };
    }
    const { outage, refresh } = entry;
    const served = this.#servable(entry);
    const facts = served?.facts;
    if (served === undefined || facts === undefined) return this.#none(entry, isForRouting);
    const { state, freshMs } = this.#stateOf(entry);
    if (outage !== undefined) entry.servedTrouble = true;
    else if (state !== "fresh" && refresh !== undefined && !isForRouting) {
      entry.servedStale = true;
      this.#markUnannounced(entry);
    }
    const judged = { freshMs, ...(outage === undefined ? {} : { trouble: outage.trouble }) };
    if (known === facts.version) return { kind: "same", ...judged };
    const catalog = read?.version === facts.version ? read : this.#entries.load(served);
    return catalog === undefined
      ? this.#none(entry, isForRouting)
      : { kind: "catalog", catalog, ...judged };
  }

  /** A caller is to be told what the reading under way brings, in the next life of the holding object if need be. */
  #markUnannounced(entry: CatalogEntry): void {
    this.#entries.markUnannounced(entry);
    this.#parts.onDue();
  }

  /** During an outage, the catalog of a similar client is better than none. */
  #servable(entry: CatalogEntry): CatalogEntry | undefined {
    if (this.#isServable(entry)) return entry;
    return entry.outage && this.#entries.nearest(entry, (other) => this.#isServable(other));
  }

  #none(entry: CatalogEntry, isForRouting: boolean): CatalogAnswer {
    const { outage, refresh } = entry;
    if (outage !== undefined || !isForRouting) entry.servedTrouble = true;
    if (outage !== undefined) return { kind: "none", trouble: outage.trouble };
    if (!isForRouting) this.#markUnannounced(entry);
    const { slug, now } = this.#parts;
    const message = `Upstream "${slug}" has not said yet what it offers; it is still being asked`;
    const since = refresh?.startedAt ?? now();
    return { kind: "none", trouble: { reason: SLOW, message, since } };
  }

  /** Logs one line for each change of the condition. */
  #logChange(): void {
    const before = this.#logged;
    const now = this.condition();
    this.#logged = now;
    if (before.trouble?.reason === now.trouble?.reason) return;
    logServer(this.#parts.slug, now.state, now.trouble?.reason);
    this.#parts.history.changed(now.trouble, this.#parts.now());
  }
}

/** The failure of a reading in words for the user. */
function troubleFrom(slug: string, error: unknown): Omit<Trouble, "since"> {
  if (error instanceof UpstreamError) {
    const cause = causeOf(error);
    const { failure: reason, message } = error;
    return { reason, message, ...(cause === undefined ? {} : { cause }) };
  }
  const reference = logUnexpected(error);
  const message = `The gateway failed on the way to upstream "${slug}" (reference ${reference})`;
  return { reason: "internal", message };
}
