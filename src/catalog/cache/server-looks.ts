/**
 * Looks at one server: all that it lists is read for nobody in particular, unless that was tried a moment ago. So what
 * the operator reads of it is young, although no client has asked for anything.
 */

import type { ClientKind } from "../../endpoint/client-kind.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { LookReason } from "../feeds.ts";
import type { CatalogEntries } from "./catalog-entries.ts";
import { type CatalogEntry, isLookDue, newestOf, type Refresh } from "./catalog-entry.ts";
import type { ServerHistory } from "./server-history.ts";

/** How a look reads: not sooner than `ageMs` after the last attempt. Its caller waits for `waitMs` at most. */
const LOOKS: Readonly<Record<LookReason, { readonly ageMs: number; readonly waitMs: number }>> = {
  start: { ageMs: 60_000, waitMs: 20_000 },
  // A page shows what is known: it gives only a server in doubt the time that a quick answer takes.
  page: { ageMs: 30_000, waitMs: 300 },
  button: { ageMs: 2000, waitMs: 5000 },
};
interface LooksParts {
  readonly history: Pick<ServerHistory, "looked">;
  readonly now: () => number;
  /** Keeps the holding object alive for work that outlives the request. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

export class ServerLooks {
  readonly #parts: LooksParts;
  readonly #entries: CatalogEntries;
  readonly #read: (entry: CatalogEntry) => Refresh["done"];

  /** @param read begins to read the catalog of an entry. */
  constructor(
    parts: LooksParts,
    entries: CatalogEntries,
    read: (entry: CatalogEntry) => Refresh["done"],
  ) {
    this.#parts = parts;
    this.#entries = entries;
    this.#read = read;
  }

  /** @param client the kind of client, where none has asked yet. */
  async look(reason: LookReason, client: ClientKind): Promise<void> {
    const { now, waitUntil } = this.#parts;
    const entry = newestOf(this.#entries.all()) ?? this.#entries.of(client);
    const { ageMs, waitMs } = LOOKS[reason];
    const isWell = entry.outage === undefined && entry.facts !== undefined;
    let looking = entry.refresh?.done;
    if (looking === undefined) {
      if (!isLookDue(entry, ageMs, now())) return;
      looking = this.#read(entry);
      waitUntil(this.#record(entry, looking));
    }
    if (reason !== "page" || !isWell) await settleWithin(looking, waitMs);
  }

  async #record(entry: CatalogEntry, looking: Refresh["done"]): Promise<void> {
    const [at, startedAt] = [this.#parts.now(), performance.now()];
    await looking;
    const ms = Math.round(performance.now() - startedAt);
    const failure = entry.outage?.trouble.reason;
    this.#parts.history.looked({ at, ms, ...(failure === undefined ? {} : { failure }) });
  }
}
