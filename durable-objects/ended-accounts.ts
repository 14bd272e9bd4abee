/**
 * Empties the vaults of people who were disabled, or whose access was revoked. The vault is another object,
 * which may be out of reach: so it is written down before that it has to be emptied, and tried again until
 * it is.
 */

import type { Vaults } from "../src/accounts/vault.ts";
import { Records } from "../src/lib/records.ts";
import type { Sql } from "../src/lib/sql.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";

const RETRY_MS = 60_000;

export class EndedAccounts extends Records {
  static override readonly SCHEMA = [
    "CREATE TABLE IF NOT EXISTS ended_accounts_1 (user TEXT PRIMARY KEY) WITHOUT ROWID",
  ];
  readonly #vaults: Vaults;
  readonly #retryBy: (at: number) => void;

  /** @param retryBy has `retry` called by a time. */
  constructor(sql: Sql, vaults: Vaults, retryBy: (at: number) => void) {
    super(sql);
    this.#vaults = vaults;
    this.#retryBy = retryBy;
  }

  /** Resolves when the vault is empty, or is going to be tried again. */
  async end(user: string): Promise<void> {
    this.run("INSERT OR IGNORE INTO ended_accounts_1 (user) VALUES (?)", [user]);
    this.#retryBy(this.now() + RETRY_MS);
    try {
      await this.finish(user);
    } catch (error) {
      logUnexpected(error);
    }
  }

  /** Empties the vault if that is still to be done: it must not end what is connected after it. */
  async finish(user: string): Promise<void> {
    if (this.row("SELECT 1 FROM ended_accounts_1 WHERE user = ?", [user]) === undefined) return;
    await this.#vaults.of({ kind: "person", person: user }).disconnectAll();
    this.run("DELETE FROM ended_accounts_1 WHERE user = ?", [user]);
  }

  /** Tries all that are left. */
  async retry(): Promise<void> {
    const left = this.rows<{ user: string }>("SELECT user FROM ended_accounts_1");
    for (const { user } of left) await this.end(user);
  }
}
