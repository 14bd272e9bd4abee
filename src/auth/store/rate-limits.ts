/**
 * Rate limits by key: a number per minute, in memory, where a restart resets all counts; and a
 * number per day, which is stored.
 */

import { TokenBuckets } from "../../lib/token-bucket.ts";
import { Records } from "../../lib/records.ts";

/** Keys contain data from strangers. The least recently used one is dropped first. */
const MAX_BUCKETS = 10_000;
const DAY_MS = 86_400_000;

export class RateLimits extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS days_1 (
      key TEXT PRIMARY KEY, day INTEGER NOT NULL, count INTEGER NOT NULL
    ) WITHOUT ROWID`,
  ];
  readonly #buckets = new TokenBuckets(MAX_BUCKETS, this.now);

  /** @returns 0 when the event is allowed, and then counted; otherwise how many seconds to wait. */
  take(key: string, perMinute: number): number {
    const bucket = this.#buckets.of(key, perMinute);
    return bucket.take() ? 0 : Math.max(1, Math.ceil(Math.round(bucket.waitMs) / 1000));
  }

  /** Counts one event. @returns the count since midnight (UTC). */
  countOfDay(key: string): number {
    const row = this.row<{ count: number }>(
      `INSERT INTO days_1 (key, day, count) VALUES (?, ?, 1)
       ON CONFLICT (key) DO UPDATE SET
         count = CASE WHEN day = excluded.day THEN count + 1 ELSE 1 END, day = excluded.day
       RETURNING count`,
      [key, this.#day()],
    );
    return row?.count ?? 0;
  }

  /** Deletes the counts of other days. */
  sweep(): void {
    this.run("DELETE FROM days_1 WHERE day <> ?", [this.#day()]);
  }

  #day(): number {
    return Math.floor(this.now() / DAY_MS);
  }
}
