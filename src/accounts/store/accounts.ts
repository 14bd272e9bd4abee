/** The accounts of one owner, one for each server: what is known of each in clear, and its secrets sealed. */

import { Records } from "../../lib/records.ts";
import type { Account } from "../account.ts";

export interface StoredAccount {
  readonly account: Account;
  /** `AccountSecrets`. */
  readonly sealed: string;
}

type Row = { facts: string; sealed: string };

export class Accounts extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS accounts_1 (
      slug TEXT PRIMARY KEY, facts TEXT NOT NULL, sealed TEXT NOT NULL
    ) WITHOUT ROWID`,
  ];

  /** @param id of an account that was found before: it may have ended since, or another one have taken its place. */
  find(slug: string, id?: string): StoredAccount | undefined {
    const row = this.row<Row>("SELECT facts, sealed FROM accounts_1 WHERE slug = ?", [slug]);
    const found = row === undefined ? undefined : stored(row);
    return id === undefined || found?.account.id === id ? found : undefined;
  }

  all(): readonly StoredAccount[] {
    return this.rows<Row>("SELECT facts, sealed FROM accounts_1 ORDER BY slug").map(stored);
  }

  /** Writes an account with its secrets, in place of the one before. */
  put(account: Account, sealed: string): void {
    this.run(
      `INSERT INTO accounts_1 (slug, facts, sealed) VALUES (?, ?, ?)
       ON CONFLICT (slug) DO UPDATE SET facts = excluded.facts, sealed = excluded.sealed`,
      [account.slug, this.#facts(account), sealed],
    );
  }

  /** Writes what has changed of an account; its secrets stay. */
  change(account: Account): void {
    this.run("UPDATE accounts_1 SET facts = ? WHERE slug = ?", [
      this.#facts(account),
      account.slug,
    ]);
  }

  delete(slug: string): void {
    this.run("DELETE FROM accounts_1 WHERE slug = ?", [slug]);
  }

  #facts(account: Account): string {
    const { lifeSince = this.now() } = account;
    return JSON.stringify({ ...account, lifeSince });
  }
}

function stored({ facts, sealed }: Row): StoredAccount {
  return { account: JSON.parse(facts) as Account, sealed };
}
