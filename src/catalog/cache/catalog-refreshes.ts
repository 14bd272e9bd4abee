/**
 * The refreshes of one server's catalogs: one of an entry at a time, and at most two of the server. A refresh has a
 * deadline, and goes on when the callers have left.
 */

import { Semaphore } from "../../lib/semaphore.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { Limits } from "../../policy/limits.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { Catalog } from "../catalog.ts";
import { LIST_TOPICS, type Topic } from "../feeds.ts";
import type { ReadCatalog } from "../read/read-catalog.ts";
import type { CatalogEntries } from "./catalog-entries.ts";
import type { CatalogEntry, CatalogReading, Refresh } from "./catalog-entry.ts";

export interface RefreshParts {
  readonly slug: string;
  readonly limits: Pick<Limits, "catalogSeconds">;
  readonly now: () => number;
  /** @param last the known catalog: a list that the server does not return is taken from it. */
  readonly read: (
    client: ClientKind,
    signal: AbortSignal,
    last: () => Catalog | undefined,
  ) => Promise<ReadCatalog>;
  /** The server would announce a change of the topic. */
  readonly covers: (topic: Topic) => boolean;
  /** Aborted when nothing is to be written any more: another cache may have the rows, or they are deleted. */
  readonly over: AbortSignal;
  /** Keeps the holding object alive for work that outlives the request. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** None is called when nothing is to be written any more. */
interface RefreshEvents {
  readonly succeeded: (entry: CatalogEntry, read: ReadCatalog, reading: CatalogReading) => void;
  readonly failed: (entry: CatalogEntry, error: unknown) => void;
  /** After either of them. */
  readonly ended: () => void;
}

/** Each holds a large part of a catalog in memory. */
const AT_ONCE = 2;

export class CatalogRefreshes {
  readonly #parts: RefreshParts;
  readonly #entries: CatalogEntries;
  readonly #events: RefreshEvents;
  readonly #places = new Semaphore({ count: AT_ONCE });

  constructor(parts: RefreshParts, entries: CatalogEntries, events: RefreshEvents) {
    this.#parts = parts;
    this.#entries = entries;
    this.#events = events;
  }

  /** @param entry which is not being refreshed. */
  begin(entry: CatalogEntry): Refresh {
    const { covers, now, waitUntil } = this.#parts;
    const reading: CatalogReading = {
      startedAt: now(),
      told: new Set(entry.outdated.filter((topic) => !entry.unannounced.includes(topic))),
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
    // Entries with a catalog go before those that a client may have made up.
    const permit = this.#places.take(entry.facts !== undefined);
    const hasWaited = permit instanceof Promise;
    const release = hasWaited ? await permit : permit;
    try {
      // The entry was evicted while it waited.
      if (hasWaited && !this.#entries.has(entry)) return { catalog: undefined };
      const read = await this.#readInTime(entry);
      if (this.#isOver) return { catalog: undefined };
      this.#events.succeeded(entry, read, reading);
      return { catalog: read.catalog };
    } catch (error) {
      if (!this.#isOver) this.#events.failed(entry, error);
      return { catalog: undefined };
    } finally {
      release();
      entry.refresh = undefined;
      if (!this.#isOver) this.#events.ended();
    }
  }

  get #isOver(): boolean {
    return this.#parts.over.aborted;
  }

  /**
   * Ends in time even if the reading ignores its signal.
   *
   * @throws UpstreamError as the reading does, and when the time is over.
   */
  async #readInTime(entry: CatalogEntry): Promise<ReadCatalog> {
    const { slug, limits, read } = this.#parts;
    const seconds = limits.catalogSeconds;
    const controller = new AbortController();
    const last = (): Catalog | undefined => this.#entries.load(entry);
    const reading = read(entry.client, controller.signal, last);
    const whole = await settleWithin(reading, seconds * 1000);
    if (whole !== undefined) return whole;
    const sentence = `did not list everything that it has within ${seconds} s`;
    const late = new UpstreamError(slug, "timeout", sentence);
    controller.abort(late);
    throw late;
  }
}
