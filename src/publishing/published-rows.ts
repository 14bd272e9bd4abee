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

/** Why a process publishes a server no more, although nobody may have been able to tell it so. */
export type Dismissal = "ended" | "replaced";

/** The dismissals that are kept of a person, the newest ones: a process of an earlier one is taken for a new one. */
const MAX_DISMISSED = 100;
const COUNTER = "version";
const CHANGED_AT = "changedAt";

type Process = Pick<PublishedRow, "name" | "generation">;

export class PublishedRows extends Records {
  static override readonly SCHEMA = [
    "CREATE TABLE IF NOT EXISTS published_1 (name TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS published_counters_1 (name TEXT PRIMARY KEY, value INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS published_gone_1 (name TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS published_dismissed_1 (number INTEGER PRIMARY KEY, name TEXT NOT NULL, generation TEXT NOT NULL, why TEXT NOT NULL)",
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

  /** A process publishes a server no more. */
  dismiss({ name, generation }: Process, why: Dismissal): void {
    const insert = "INSERT INTO published_dismissed_1 (name, generation, why) VALUES (?, ?, ?)";
    this.run(insert, [name, generation, why]);
    const newest = "SELECT number FROM published_dismissed_1 ORDER BY number DESC LIMIT ?";
    this.run(`DELETE FROM published_dismissed_1 WHERE number NOT IN (${newest})`, [MAX_DISMISSED]);
  }

  /** @returns why a process publishes a server no more; `undefined` for one that may. */
  dismissalOf({ name, generation }: Process): Dismissal | undefined {
    const query = "SELECT why FROM published_dismissed_1 WHERE name = ? AND generation = ?";
    return this.row<{ why: Dismissal }>(query, [name, generation])?.why;
  }

  /** Its person has ended a server: those that were replaced come back no more, either. */
  dismissAll(row: Process): void {
    this.dismiss(row, "ended");
    this.run("UPDATE published_dismissed_1 SET why = 'ended' WHERE name = ?", [row.name]);
  }

  /** A process publishes a server again. */
  readmit({ name, generation }: Process): void {
    const statement = "DELETE FROM published_dismissed_1 WHERE name = ? AND generation = ?";
    this.run(statement, [name, generation]);
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
