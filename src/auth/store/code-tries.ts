/**
 * Wrong owner's codes, counted for each address and for all together. A try is counted before the
 * code is looked at, so that many at once are no more than as many one after the other; and it is
 * written down, so that waiting until this sleeps is no help.
 */

import type { Sql } from "../../lib/sql.ts";

type Row = { since: number; count: number; last: number };

const WINDOW_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;
/** Of all addresses together in an hour, for each that one address has in a quarter of it. */
const ALL_FACTOR = 10;
/**
 * After that, one try at a time: slow for a guesser, and not the end for the owner. The first try of
 * an address does not wait its turn, for a guesser with many addresses would take each.
 */
const BACK_OFF_MS = 10_000;
/** No address. */
const ALL = "*";

export class CodeTries {
  readonly #sql: Sql;
  readonly #now: () => number;

  constructor(sql: Sql, now: () => number = () => Date.now()) {
    this.#sql = sql;
    this.#now = now;
    sql.exec(`CREATE TABLE IF NOT EXISTS code_tries_1 (
      key TEXT PRIMARY KEY, since INTEGER NOT NULL, count INTEGER NOT NULL, last INTEGER NOT NULL
    ) WITHOUT ROWID`);
  }

  /**
   * Counts a try as a wrong one.
   *
   * @param most how many an address has.
   * @returns 0 when the code may be looked at; otherwise how many seconds to wait.
   */
  begin(address: string, most: number): number {
    const now = this.#now();
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

  /** The code was right: whoever sits there is no guesser. */
  forgive(address: string): void {
    this.#sql.exec("DELETE FROM code_tries_1 WHERE key = ?", address);
    this.#sql.exec("UPDATE code_tries_1 SET count = MAX(count - 1, 0) WHERE key = ?", ALL);
  }

  /** Removes what does not count any more. */
  sweep(): void {
    this.#sql.exec("DELETE FROM code_tries_1 WHERE since <= ?", this.#now() - HOUR_MS);
  }

  #read(key: string, windowMs: number): Row {
    const now = this.#now();
    const [row] = this.#sql.exec<Row>(
      "SELECT since, count, last FROM code_tries_1 WHERE key = ? AND since > ?",
      ...[key, now - windowMs],
    );
    return row ?? { since: now, count: 0, last: now };
  }

  #write(key: string, { since, count }: Row): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO code_tries_1 (key, since, count, last) VALUES (?, ?, ?, ?)",
      ...[key, since, count + 1, this.#now()],
    );
  }
}

function secondsUntil(at: number, now: number): number {
  return Math.max(1, Math.ceil((at - now) / 1000));
}
