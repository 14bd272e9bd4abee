/**
 * Refresh tokens that were replaced. A client that presents one has a copy that another client has
 * used since, so one of the two is a thief (RFC 9700 section 4.14.2).
 */

import { Records } from "../../../lib/records.ts";

/** As long as the longest grant may last without being used. */
const KEPT_MS = 366 * 86_400_000;
/**
 * Of each grant: an application that refreshes in a loop would fill the object, which has other users. An hourly
 * refresh takes six weeks for as many. An older token is still refused.
 */
const KEPT_TOKENS = 1000;

export class RetiredTokens extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS retired_1 (
      hash TEXT PRIMARY KEY, owner TEXT NOT NULL, expires INTEGER NOT NULL
    ) WITHOUT ROWID`,
    "CREATE INDEX IF NOT EXISTS retired_1_owner ON retired_1 (owner)",
  ];

  /** @param owner the key of the grant among the rows. */
  retire(owner: string, hashes: readonly string[]): void {
    for (const hash of hashes) {
      const insert = "INSERT OR IGNORE INTO retired_1 (hash, owner, expires) VALUES (?, ?, ?)";
      this.run(insert, [hash, owner, this.now() + KEPT_MS]);
    }
    if (hashes.length === 0) return;
    this.run(
      `DELETE FROM retired_1 WHERE hash IN (
         SELECT hash FROM retired_1 WHERE owner = ? ORDER BY expires DESC LIMIT -1 OFFSET ?)`,
      [owner, KEPT_TOKENS],
    );
  }

  has(owner: string, hash: string): boolean {
    const query = "SELECT hash FROM retired_1 WHERE hash = ? AND owner = ?";
    return this.count(query, [hash, owner]) > 0;
  }

  forget(owner: string): void {
    this.run("DELETE FROM retired_1 WHERE owner = ?", [owner]);
  }

  /** Removes the rows of tokens that were replaced long ago. */
  sweep(): void {
    this.run("DELETE FROM retired_1 WHERE expires <= ?", [this.now()]);
  }
}
