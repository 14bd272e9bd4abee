/** How many calls were not written down, minute by minute and person by person: lists say so. */

import { Records } from "../lib/records.ts";
import { KEPT_MS } from "./recent-calls.ts";

export interface UnlistedCalls {
  /** The beginning of the minute, in milliseconds since 1970. */
  readonly minute: number;
  /** Empty for everybody, and for people whom nobody could keep apart any more. */
  readonly person: string;
  readonly calls: number;
}

const MAX_ROWS = 1000;
/** The newest minutes that a list names. */
export const SHOWN_MINUTES = 5;

export class UnlistedCallRows extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS unlisted_1 (
      minute INTEGER NOT NULL, person TEXT NOT NULL, calls INTEGER NOT NULL,
      PRIMARY KEY (minute, person)
    ) WITHOUT ROWID`,
  ];

  add(unlisted: readonly UnlistedCalls[]): void {
    for (const { minute, person, calls } of unlisted) {
      this.run(
        `INSERT INTO unlisted_1 (minute, person, calls) VALUES (?, ?, ?)
         ON CONFLICT (minute, person) DO UPDATE SET calls = calls + excluded.calls`,
        [minute, person, calls],
      );
    }
  }

  /** One for each minute, the newest first. @param person `undefined` for everybody's. */
  list(person: string | undefined): readonly UnlistedCalls[] {
    const rows = this.rows<{ minute: number; calls: number }>(
      `SELECT minute, SUM(calls) AS calls FROM unlisted_1
       WHERE minute > ?1 AND (?2 IS NULL OR person = ?2)
       GROUP BY minute ORDER BY minute DESC LIMIT ${SHOWN_MINUTES}`,
      [this.now() - KEPT_MS, person ?? null],
    );
    return rows.map((row) => ({ ...row, person: person ?? "" }));
  }

  forget(person: string): void {
    this.run("DELETE FROM unlisted_1 WHERE person = ?", [person]);
  }

  sweep(): void {
    this.run("DELETE FROM unlisted_1 WHERE minute <= ?", [this.now() - KEPT_MS]);
    this.run(
      `DELETE FROM unlisted_1 WHERE (minute, person) NOT IN (
         SELECT minute, person FROM unlisted_1 ORDER BY minute DESC LIMIT ${MAX_ROWS})`,
    );
  }

  expiresAt(): number | undefined {
    const row = this.row<{ minute: number | null }>("SELECT MIN(minute) AS minute FROM unlisted_1");
    return typeof row?.minute === "number" ? row.minute + KEPT_MS : undefined;
  }
}
