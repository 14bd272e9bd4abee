/**
 * Counts wrong owner's codes, for each address and for all together. A try is counted before the
 * code is checked, so that concurrent tries are limited like sequential ones; and the count is
 * stored, so that waiting for this object to hibernate does not help.
 */

import { Records } from "../../lib/records.ts";

type Row = { since: number; count: number; last: number };

const WINDOW_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;
/**
 * The limit of all addresses together in an hour, for each try that one address has in a quarter of
 * an hour.
 */
const ALL_FACTOR = 10;
/**
 * After that, one try at a time: slow for a guesser, but the owner is not locked out. The first try
 * of an address does not wait for this interval, because a guesser with many addresses would take
 * each one.
 */
const BACK_OFF_MS = 10_000;
/** The key of the count of all addresses. */
const ALL = "*";

export class CodeTries extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS code_tries_1 (
      key TEXT PRIMARY KEY, since INTEGER NOT NULL, count INTEGER NOT NULL, last INTEGER NOT NULL
    ) WITHOUT ROWID`,
  ];

  /**
   * Counts a try as a wrong one.
   *
   * @param most the number of tries of an address.
   * @returns 0 when the code may be checked; otherwise how many seconds to wait.
   */
  begin(address: string, most: number): number {
    const now = this.now();
    const own = this.#read(address, WINDOW_MS);
    if (own.count >= most) return secondsUntil(own.since + WINDOW_MS, now);
    const all = this.#read(ALL, HOUR_MS);
    const isCrowded = all.count >= most * ALL_FACTOR && all.last + BACK_OFF_MS > now;
    if (isCrowded && own.count > 0) {
      return secondsUntil(all.last + BACK_OFF_MS, now);
    }
    this.#write(address, own);
    this.#write(ALL, all);
    return 0;
  }

  /** Called after a right code: the address is not a guesser's. */
  forgive(address: string): void {
    this.run("DELETE FROM code_tries_1 WHERE key = ?", [address]);
    this.run("UPDATE code_tries_1 SET count = MAX(count - 1, 0) WHERE key = ?", [ALL]);
  }

  /** Deletes counts that no longer matter. */
  sweep(): void {
    this.run("DELETE FROM code_tries_1 WHERE since <= ?", [this.now() - HOUR_MS]);
  }

  #read(key: string, windowMs: number): Row {
    const now = this.now();
    const row = this.row<Row>(
      "SELECT since, count, last FROM code_tries_1 WHERE key = ? AND since > ?",
      [key, now - windowMs],
    );
    return row ?? { since: now, count: 0, last: now };
  }

  #write(key: string, { since, count }: Row): void {
    const insert =
      "INSERT OR REPLACE INTO code_tries_1 (key, since, count, last) VALUES (?, ?, ?, ?)";
    this.run(insert, [key, since, count + 1, this.now()]);
  }
}

function secondsUntil(at: number, now: number): number {
  return Math.max(1, Math.ceil((at - now) / 1000));
}
