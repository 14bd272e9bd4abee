/** What a person publishes, or has published in the last day: the rows of their object. */

import { Records } from "../lib/records.ts";
import type { PublishedServer } from "./publisher.ts";

export interface PublishedRow extends PublishedServer {
  /** The connection that publishes it, or did so last. */
  readonly socket: string;
  /** The process of the command, for as long as it runs. */
  readonly generation: string;
  /** The grant or key by which it is published, and its user; absent in rows of earlier versions. */
  readonly leases?: readonly string[];
  /** It is served nowhere until its person resumes it. */
  readonly isPaused?: true;
  /** Why it is offline though its machine is connected. */
  readonly why?: "crashing";
}

const COUNTER = "version";
const CHANGED_AT = "changedAt";

export class PublishedRows extends Records {
  static override readonly SCHEMA = [
    "CREATE TABLE IF NOT EXISTS published_1 (name TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS published_counters_1 (name TEXT PRIMARY KEY, value INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS published_gone_1 (name TEXT PRIMARY KEY) WITHOUT ROWID",
  ];

  all(): readonly PublishedRow[] {
    const rows = this.rows<{ record: string }>("SELECT record FROM published_1 ORDER BY name");
    return rows.map(({ record }) => JSON.parse(record) as PublishedRow);
  }

  save(row: PublishedRow): void {
    const insert = "INSERT OR REPLACE INTO published_1 (name, record) VALUES (?, ?)";
    this.run(insert, [row.name, JSON.stringify(row)]);
  }

  delete(name: string): void {
    this.run("DELETE FROM published_1 WHERE name = ?", [name]);
  }

  /** From now on it is one of `gone`. */
  left(name: string): void {
    this.run("INSERT OR IGNORE INTO published_gone_1 (name) VALUES (?)", [name]);
  }

  /** Those that have left the list, while something may be kept of what they offered. */
  gone(): readonly string[] {
    const rows = this.rows<{ name: string }>("SELECT name FROM published_gone_1");
    return rows.map(({ name }) => name);
  }

  /** Nothing is kept of it any more. */
  deleted(name: string): void {
    this.run("DELETE FROM published_gone_1 WHERE name = ?", [name]);
  }

  /** It is served again: a deletion now would take what others have asked of it since. */
  returned(name: string): void {
    this.deleted(name);
  }

  /** Grows whenever a server comes or goes. */
  get version(): number {
    return this.#counter(COUNTER);
  }

  /** When it has grown last, in milliseconds since 1970; 0 where that is not known. */
  get changedAt(): number {
    return this.#counter(CHANGED_AT);
  }

  grown(): void {
    const insert =
      "INSERT OR REPLACE INTO published_counters_1 (name, value) VALUES (?, ?), (?, ?)";
    this.run(insert, [COUNTER, this.version + 1, CHANGED_AT, this.now()]);
  }

  #counter(name: string): number {
    const query = "SELECT value FROM published_counters_1 WHERE name = ?";
    return this.row<{ value: number }>(query, [name])?.value ?? 0;
  }
}
