/**
 * Ends what people publish with the grant, key or person by which their machines have connected. Their objects
 * are others, which may be out of reach: so it is written down before that an object has to be told, and tried
 * again until it was.
 */

import { Records } from "../src/lib/records.ts";
import type { Sql } from "../src/lib/sql.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";

const RETRY_MS = 10_000;

interface PublisherLeasesOptions {
  readonly sql: Sql;
  /** Tells the person's object that a grant or key has ended. */
  readonly tell: (person: string, tag: string) => Promise<void>;
  /** Has `retry` called by a time. */
  readonly retryBy: (at: number) => void;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** The end of a person is that of all grants and keys that they have had until then. */
const END = "UPDATE publisher_leases_1 SET has_ended = 1 WHERE tag = ? OR person = ? RETURNING tag";

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

  /** @param lease a grant or key of the person that is good now: none is ever good again after its end. */
  hold(person: string, lease: string): void {
    const insert =
      "INSERT OR IGNORE INTO publisher_leases_1 (tag, person, has_ended) VALUES (?, ?, 0)";
    this.run(insert, [lease, person]);
  }

  release(person: string): void {
    this.run("DELETE FROM publisher_leases_1 WHERE person = ? AND has_ended = 0", [person]);
  }

  /** @param tags grants, keys or users that have ended. */
  end(tags: readonly string[]): void {
    let found = 0;
    for (const tag of tags) {
      found += this.count(END, [tag, tag]);
    }
    if (found > 0) this.#options.waitUntil(this.retry());
  }

  /** Tells all that are left. */
  async retry(): Promise<void> {
    const ended = this.rows<Row>("SELECT tag, person FROM publisher_leases_1 WHERE has_ended = 1");
    if (ended.length > 0) this.#options.retryBy(this.now() + RETRY_MS);
    for (const { tag, person } of ended) {
      try {
        await this.#options.tell(person, tag);
        this.run("DELETE FROM publisher_leases_1 WHERE tag = ? AND person = ?", [tag, person]);
      } catch (error) {
        logUnexpected(error);
      }
    }
  }
}
