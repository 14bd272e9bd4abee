/**
 * Ends what people publish with the grant, key or person by which their machines have connected. Their objects
 * are others, which may be out of reach: so it is written down before that an object has to be told, and tried
 * again until it was.
 */

import { Records } from "../src/lib/records.ts";
import type { Sql } from "../src/lib/sql.ts";
import { settleWithin } from "../src/lib/time-out.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";

const RETRY_MS = 10_000;
/** The longest wait for one object: it may take longer, and is told again then. */
const TOLD_WITHIN_MS = 5000;

interface PublisherLeasesOptions {
  readonly sql: Sql;
  /** @returns whether a person has this grant or key now. */
  readonly isGood: (person: string, lease: string) => boolean;
  /** Tells the person's object that a grant or key has ended. */
  readonly tell: (person: string, tag: string) => Promise<void>;
  /** Has `retry` called by a time. */
  readonly retryBy: (at: number) => void;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

type Row = { tag: string; person: string };

export class PublisherLeases extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS publisher_leases_1 (
      tag TEXT NOT NULL, person TEXT NOT NULL, has_ended INTEGER NOT NULL, PRIMARY KEY (tag, person)
    ) WITHOUT ROWID`,
  ];
  readonly #options: PublisherLeasesOptions;

  constructor(options: PublisherLeasesOptions) {
    super(options.sql);
    this.#options = options;
  }

  /** @returns `false` for a lease that has ended: none is ever good again after that. */
  hold(person: string, lease: string): boolean {
    if (!this.#options.isGood(person, lease)) return false;
    const insert =
      "INSERT OR IGNORE INTO publisher_leases_1 (tag, person, has_ended) VALUES (?, ?, 0)";
    this.run(insert, [lease, person]);
    return true;
  }

  release(person: string): void {
    this.run("DELETE FROM publisher_leases_1 WHERE person = ? AND has_ended = 0", [person]);
  }

  /** @param tags grants, keys or users that have ended. */
  end(tags: readonly string[]): void {
    let found = 0;
    for (const tag of tags) {
      found += this.#mark(tag);
    }
    if (found > 0) this.#options.waitUntil(this.retry());
  }

  /** Ends what is held by a grant or key that has expired; `retry` tells it. */
  sweep(): void {
    // An earlier version has held the person as well.
    const held = "SELECT tag, person FROM publisher_leases_1 WHERE has_ended = 0 AND tag <> person";
    for (const { tag, person } of this.rows<Row>(held)) {
      if (!this.#options.isGood(person, tag)) this.#mark(tag);
    }
  }

  /** Tells all that are left, at once: an object that does not answer holds up nobody else's end. */
  async retry(): Promise<void> {
    const ended = this.rows<Row>("SELECT tag, person FROM publisher_leases_1 WHERE has_ended = 1");
    if (ended.length > 0) this.#options.retryBy(this.now() + RETRY_MS);
    await Promise.all(ended.map((row) => this.#tell(row)));
  }

  async #tell({ tag, person }: Row): Promise<void> {
    const telling = this.#options
      .tell(person, tag)
      .then(() =>
        this.run("DELETE FROM publisher_leases_1 WHERE tag = ? AND person = ?", [tag, person]),
      );
    await settleWithin(telling.catch(logUnexpected), TOLD_WITHIN_MS);
  }

  /** @returns the number of rows: the end of a person is that of all grants and keys that they have had. */
  #mark(tag: string): number {
    const update =
      "UPDATE publisher_leases_1 SET has_ended = 1 WHERE tag = ? OR person = ? RETURNING tag";
    return this.count(update, [tag, tag]);
  }
}
