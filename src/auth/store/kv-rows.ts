/**
 * Keys and values that expire, in one table: the clients, grants and tokens of the authorization
 * server's library, under the library's own keys and in its own JSON.
 *
 * The library was written for a store that is eventually consistent and has no compare-and-set.
 * Here a read sees every write, and the two reads that must succeed only once are reservations.
 */

import { Records } from "../../lib/records.ts";

export interface RowOptions {
  /** Seconds since 1970. */
  readonly expiresAt?: number;
  /** JSON, listed without reading the value. */
  readonly metadata?: string;
}

export type RowKey = { readonly name: string; readonly metadata: string | null };

export type RowEntry = { readonly key: string; readonly value: string };

export interface RowPage {
  readonly keys: readonly RowKey[];
  /** The key after which the next page begins; absent on the last page. */
  readonly cursor?: string;
}

/** Greater than every character in a key. */
const LAST = "\u{10FFFF}";
const MAX_PAGE = 1000;
const PAGE = `WHERE key >= ? AND key < ? AND key > ? AND (expires IS NULL OR expires > ?)
  ORDER BY key LIMIT ?`;

export class KvRows extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS kv_1 (
      key TEXT PRIMARY KEY, value TEXT NOT NULL, expires INTEGER, metadata TEXT
    ) WITHOUT ROWID`,
    "CREATE INDEX IF NOT EXISTS kv_1_expires ON kv_1 (expires) WHERE expires IS NOT NULL",
  ];

  /** Expiry is checked here, so no lifetime depends on the sweep. */
  get(key: string): string | null {
    const row = this.row<{ value: string }>(
      "SELECT value FROM kv_1 WHERE key = ? AND (expires IS NULL OR expires > ?)",
      [key, this.#seconds()],
    );
    return row?.value ?? null;
  }

  put(key: string, value: string, { expiresAt, metadata }: RowOptions = {}): void {
    this.run(
      `INSERT INTO kv_1 (key, value, expires, metadata) VALUES (?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET
         value = excluded.value, expires = excluded.expires, metadata = excluded.metadata`,
      [key, value, expiresAt ?? null, metadata ?? null],
    );
  }

  /** Writes a row if another one exists, atomically. @returns whether it existed. */
  putWhile(other: string, key: string, value: string, options?: RowOptions): boolean {
    if (this.get(other) === null) return false;
    this.put(key, value, options);
    return true;
  }

  /** @returns whether the row existed: of several concurrent deletions, one returns `true`. */
  delete(key: string): boolean {
    return this.count("DELETE FROM kv_1 WHERE key = ? RETURNING key", [key]) > 0;
  }

  /** @returns whether the key was free: of several concurrent reservations, one succeeds. */
  reserve(key: string, expiresAt: number): boolean {
    this.run("DELETE FROM kv_1 WHERE key = ? AND expires <= ?", [key, this.#seconds()]);
    const insert =
      "INSERT OR IGNORE INTO kv_1 (key, value, expires) VALUES (?, '1', ?) RETURNING key";
    return this.count(insert, [key, expiresAt]) > 0;
  }

  /**
   * Extends the lifetime of a row, if it has one that ends soon. @param due a row that ends after
   * this is left as it is, so that frequent calls cost no writes.
   */
  extend(key: string, expiresAt: number, due: number): void {
    const update = "UPDATE kv_1 SET expires = ? WHERE key = ? AND expires > ? AND expires <= ?";
    this.run(update, [expiresAt, key, this.#seconds(), due]);
  }

  list(prefix: string, limit = MAX_PAGE, cursor = ""): RowPage {
    const bindings = [prefix, prefix + LAST, cursor, this.#seconds(), limit + 1];
    const rows = this.rows<RowKey>(`SELECT key AS name, metadata FROM kv_1 ${PAGE}`, bindings);
    if (rows.length <= limit) return { keys: rows };
    const keys = rows.slice(0, limit);
    return { keys, cursor: keys.at(-1)?.name ?? "" };
  }

  /** Rows with their values, in the order of their keys. @param cursor the key before the first. */
  entries(prefix: string, limit: number, cursor = ""): readonly RowEntry[] {
    const bindings = [prefix, prefix + LAST, cursor, this.#seconds(), limit];
    return this.rows<RowEntry>(`SELECT key, value FROM kv_1 ${PAGE}`, bindings);
  }

  /** Deletes all rows under a prefix. @returns their number. */
  clear(prefix: string): number {
    const remove = "DELETE FROM kv_1 WHERE key >= ? AND key < ? RETURNING key";
    return this.count(remove, [prefix, prefix + LAST]);
  }

  /** Deletes expired rows. */
  sweep(): void {
    this.run("DELETE FROM kv_1 WHERE expires <= ?", [this.#seconds()]);
  }

  #seconds(): number {
    return Math.floor(this.now() / 1000);
  }
}
