/**
 * The catalogs of one server: one for each kind of client, kept over restarts, refreshed two at a
 * time, and never replaced by a failure. A caller chooses how long it waits; a refresh goes on
 * without it. A server may fail for one kind of client and work for others, so each kind has its
 * own outage and its own pauses between attempts.
 */

import { settleWithin } from "../../lib/time-out.ts";
import { logServer } from "../../observability/server-log.ts";
import type { Limits } from "../../policy/limits.ts";
import { logFailure, UpstreamError } from "../../upstream/upstream-error.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { Catalog, CatalogAnswer, CatalogQuestion, Trouble } from "../catalog.ts";
import type { ReadCatalog } from "../read/read-catalog.ts";
import { CatalogAnnouncer } from "./catalog-announcer.ts";
import { type Condition, conditionOf } from "./catalog-condition.ts";
import { CatalogEntries } from "./catalog-entries.ts";
import type { CatalogEntry, Freshness, CatalogReading, Refresh } from "./catalog-entry.ts";
import { storedFactsOf, freshness, isDoubted, isWorthSaving, retryAt } from "./catalog-entry.ts";
import { afterFailure, afterReport, hurried, isOverdue } from "./catalog-outage.ts";
import { readWithin, troubleFrom } from "./catalog-reading.ts";
import { CatalogStore, type ShelfStorage } from "./catalog-store.ts";
import { isListTopic, type ListTopic } from "../topics.ts";
import { PrioritySemaphore } from "../../lib/priority-semaphore.ts";
import { LIST_TOPICS, type Topic } from "../feeds.ts";

export interface KeeperParts {
  readonly slug: string;
  /** The server's URL: catalogs that were read from another URL are deleted. */
  readonly endpoint: string;
  readonly storage: ShelfStorage;
  readonly limits: Pick<
    Limits,
    "catalogFreshSeconds" | "catalogSeconds" | "keptCatalogsPerServer" | "staleCatalogHours"
  >;
  readonly now: () => number;
  /** @param last the known catalog: a list that the server does not return is taken from it. */
  readonly read: (
    client: ClientKind,
    signal: AbortSignal,
    last: () => Catalog | undefined,
  ) => Promise<ReadCatalog>;
  /** The server would announce a change of the topic. */
  readonly covers: (topic: Topic) => boolean;
  readonly announce: (topics: readonly Topic[]) => void;
  /** Some client has subscribed to changes. */
  readonly isWanted: () => boolean;
  /** Keeps the holding object alive for work that outlives the request. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** `dueAt` may have changed. */
  readonly onDue: () => void;
}

const HOUR_MS = 3_600_000;

export class CatalogCache {
  readonly #parts: KeeperParts;
  readonly #entries: CatalogEntries;
  readonly #announcer: CatalogAnnouncer;
  readonly #readings = new PrioritySemaphore();
  /** The last report of a caller, if there was no attempt since. */
  #reported: Trouble | undefined;
  #noted: Condition;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    const store = new CatalogStore(parts.storage, parts.endpoint);
    this.#entries = new CatalogEntries(store, parts.limits.keptCatalogsPerServer);
    this.#announcer = new CatalogAnnouncer((topics) => parts.announce(topics), parts.now);
    this.#noted = this.condition();
  }

  /** The answer carries any trouble with the server. */
  async catalog(question: CatalogQuestion): Promise<CatalogAnswer> {
    const { client, waitMs } = question;
    const entry = this.#entries.of(client);
    const { now } = this.#parts;
    const askedAt = now();
    if (isDoubted(entry, question, askedAt)) entry.isDoubted = true;
    let had: Catalog | undefined;
    // The answer includes every change before the question: an older reading is not enough.
    for (let isEnough = false; !isEnough;) {
      const refresh = this.#freshen(entry);
      if (refresh === undefined) break;
      isEnough = refresh.missed.size === 0;
      // For a failing server, the wait counts from the start of the attempt.
      const since = entry.outage === undefined ? askedAt : refresh.startedAt;
      const leftMs = since + waitMs - now();
      const ended = leftMs > 0 ? await settleWithin(refresh.done, leftMs) : undefined;
      if (ended === undefined) break;
      had = ended.catalog;
    }
    return this.#answer(entry, question, had);
  }

  /** The server announced that these topics changed, so it is also available. */
  outdated(topics: readonly Topic[]): void {
    this.#entries.outdate(topics.filter(isListTopic));
    this.#hurry();
  }

  /** A caller found the server unavailable, or available again (`undefined`). */
  report(trouble: Trouble | undefined): void {
    this.#reported = trouble;
    if (trouble === undefined) {
      this.#hurry();
      for (const entry of this.#failing()) this.#freshen(entry);
    } else {
      const outage = afterReport(trouble, this.#parts.now());
      const well = this.#entries.all().filter((entry) => entry.outage === undefined);
      for (const entry of well) this.#entries.save(entry, { outage });
    }
    this.#note();
    this.#parts.onDue();
  }

  /** The time to call `wake`: never, while no client has subscribed to changes. */
  get dueAt(): number | undefined {
    if (!this.#parts.isWanted()) return undefined;
    const retries = this.#entries
      .all()
      .flatMap((entry) => (entry.refresh === undefined ? (retryAt(entry) ?? []) : []));
    const times = [...retries, this.#announcer.dueAt ?? Infinity];
    const first = Math.min(...times);
    return first === Infinity ? undefined : first;
  }

  /** Retries failing servers, so that a recovery is noticed without a request. */
  wake(): void {
    if (!this.#parts.isWanted()) return;
    this.#announcer.flush();
    for (const entry of this.#failing()) this.#freshen(entry);
    const now = this.#parts.now();
    for (const entry of this.#entries.all()) {
      if (entry.outage === undefined && (retryAt(entry) ?? Infinity) <= now) this.#freshen(entry);
    }
  }

  /** The known condition of the server. */
  condition(): Condition {
    const isServable = (entry: CatalogEntry): boolean => this.#isServable(entry);
    return conditionOf(this.#entries.all(), this.#reported, isServable);
  }

  /** The catalog that was read last, if it may still be shown. */
  newest(): Catalog | undefined {
    const servable = this.#entries.all().filter((entry) => this.#isServable(entry));
    const [newest] = servable.toSorted((a, b) => b.readAt - a.readAt);
    return newest && this.#entries.load(newest);
  }

  #freshness(entry: CatalogEntry): Freshness {
    const { limits, covers, now } = this.#parts;
    return freshness(entry, limits.catalogFreshSeconds * 1000, covers, now());
  }

  #isServable({ facts, readAt }: CatalogEntry): boolean {
    const { limits, now } = this.#parts;
    return facts !== undefined && now() - readAt <= limits.staleCatalogHours * HOUR_MS;
  }

  /** @returns the running refresh; `undefined` when none is needed or the server is in a pause. */
  #freshen(entry: CatalogEntry): Refresh | undefined {
    if (entry.refresh !== undefined) return entry.refresh;
    if (this.#freshness(entry).isFresh) return undefined;
    const { outage } = entry;
    if (outage !== undefined && !isOverdue(outage, this.#parts.now())) return undefined;
    return this.#refresh(entry);
  }

  #refresh(entry: CatalogEntry): Refresh {
    const { covers, now, waitUntil } = this.#parts;
    const reading: CatalogReading = {
      startedAt: now(),
      brings: entry.outdated,
      missed: new Set(),
      covered: new Set(LIST_TOPICS.filter((topic) => covers(topic))),
    };
    const refresh = { ...reading, done: this.#run(entry, reading) };
    entry.refresh = refresh;
    waitUntil(refresh.done);
    return refresh;
  }

  async #run(
    entry: CatalogEntry,
    reading: CatalogReading,
  ): Promise<{ catalog: Catalog | undefined }> {
    const { slug, limits, read } = this.#parts;
    const turn = this.#readings.take(entry.facts !== undefined);
    if (turn !== undefined) await turn;
    try {
      // The entry was evicted while it waited.
      if (turn !== undefined && !this.#entries.has(entry)) return { catalog: undefined };
      const { catalogSeconds } = limits;
      const last = (): Catalog | undefined => this.#entries.load(entry);
      const had = await readWithin(slug, catalogSeconds, (signal) =>
        read(entry.client, signal, last),
      );
      this.#took(entry, had, reading);
      return { catalog: had.catalog };
    } catch (error) {
      const now = this.#parts.now();
      this.#reported = undefined;
      // Logged once for each outage: the attempts go on as long as it lasts.
      if (entry.outage === undefined && error instanceof UpstreamError) logFailure(error, slug);
      const outage = afterFailure(entry.outage, troubleFrom(slug, error), now);
      this.#entries.save(entry, { outage });
      return { catalog: undefined };
    } finally {
      this.#readings.done();
      entry.refresh = undefined;
      this.#note();
      this.#parts.onDue();
    }
  }

  #took(
    entry: CatalogEntry,
    read: ReadCatalog,
    { startedAt, brings, missed, covered }: CatalogReading,
  ): void {
    this.#reported = undefined;
    if (!this.#entries.has(entry)) return;
    const before = { ...entry };
    const facts = storedFactsOf(read);
    const after = {
      ...before,
      facts,
      readAt: startedAt,
      outdated: [...missed],
      outage: undefined,
      covered,
      owesAll: false,
      gaveOld: false,
      isDoubted: false,
    };
    const isOther = before.facts?.version !== facts.version;
    // A failed write leaves memory unchanged too: memory and rows stay equal.
    const changed = isOther ? this.#entries.replace(after, read.catalog) : new Set<ListTopic>();
    Object.assign(entry, after);
    if (before.facts === undefined) this.#entries.makeRoom();
    if (!isOther && isWorthSaving(before, entry)) this.#entries.save(entry);
    if (before.outage !== undefined) this.#hurry();

    const wasTold = (topic: ListTopic): boolean => brings.includes(topic) && !before.gaveOld;
    const found = before.facts === undefined ? [] : [...changed].filter((each) => !wasTold(each));
    // Clients of other kinds receive the announcement as well, so their catalogs become outdated.
    if (found.length > 0) this.#entries.outdate(found, entry);
    const isRecovered = before.owesAll || (before.outage?.failures ?? 0) > 0;
    this.#announcer.announce(isRecovered ? LIST_TOPICS : found);
  }

  #failing(): readonly CatalogEntry[] {
    return this.#entries.all().filter(({ outage }) => outage !== undefined);
  }

  /** The server has shown a sign of life, so it may work for the other kinds of clients too. */
  #hurry(): void {
    const failing = this.#failing();
    for (const entry of failing) entry.outage &&= hurried(entry.outage);
    if (failing.length > 0) this.#parts.onDue();
  }

  #answer(
    entry: CatalogEntry,
    { known, waitMs }: CatalogQuestion,
    had: Catalog | undefined,
  ): CatalogAnswer {
    // The entry was evicted meanwhile, so nothing else is known about it.
    if (had !== undefined && !this.#entries.has(entry)) {
      return { kind: "catalog", catalog: had, freshMs: 0 };
    }
    const { outage, refresh } = entry;
    const shown = this.#shown(entry);
    const facts = shown?.facts;
    if (shown === undefined || facts === undefined) return this.#none(entry, waitMs);
    const { isFresh, freshMs } = this.#freshness(entry);
    if (outage !== undefined) entry.owesAll = true;
    // A caller that does not wait accepts an old catalog.
    else if (!isFresh && refresh !== undefined && waitMs > 0) entry.gaveOld = true;
    const judged = { freshMs, ...(outage === undefined ? {} : { trouble: outage.trouble }) };
    if (known === facts.version) return { kind: "same", ...judged };
    const catalog = had?.version === facts.version ? had : this.#entries.load(shown);
    return catalog === undefined
      ? this.#none(entry, waitMs)
      : { kind: "catalog", catalog, ...judged };
  }

  /** During an outage, the catalog of a similar client is better than none. */
  #shown(entry: CatalogEntry): CatalogEntry | undefined {
    if (this.#isServable(entry)) return entry;
    const isServable = (other: CatalogEntry): boolean => this.#isServable(other);
    return entry.outage && this.#entries.nearest(entry, isServable);
  }

  #none(entry: CatalogEntry, waitMs: number): CatalogAnswer {
    if (entry.outage !== undefined || waitMs > 0) entry.owesAll = true;
    if (entry.outage !== undefined) return { kind: "none", trouble: entry.outage.trouble };
    const { slug, now } = this.#parts;
    const message = `Upstream "${slug}" has not said yet what it offers; it is still being asked`;
    const since = entry.refresh?.startedAt ?? now();
    return { kind: "none", trouble: { reason: "slow", message, since } };
  }

  /** Logs one line for each change of the condition. */
  #note(): void {
    const before = this.#noted;
    const now = this.condition();
    this.#noted = now;
    if (before.trouble?.reason === now.trouble?.reason) return;
    logServer(this.#parts.slug, now.state, now.trouble?.reason);
  }
}
