/**
 * The objects that keep something of an account: its lists, or a session at its server. When the account ends,
 * each stays on record until it has been told.
 */

import { Records } from "../../lib/records.ts";

export interface Holder {
  readonly kind: "feed" | "session" | "bridge";
  /** The id of its Durable Object. */
  readonly object: string;
}

export interface EndedHolder extends Holder {
  readonly slug: string;
  readonly accountId: string;
}

type Row = { slug: string; account: string; kind: Holder["kind"]; object: string };

/** Of one owner. Those beyond it find out with their next request. */
const MAX_HOLDERS = 1000;

export class HolderRows extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS holders_1 (
      account TEXT NOT NULL, object TEXT NOT NULL, slug TEXT NOT NULL, kind TEXT NOT NULL,
      ended INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (account, object)
    ) WITHOUT ROWID`,
    "CREATE INDEX IF NOT EXISTS holders_1_ended ON holders_1 (ended) WHERE ended = 1",
  ];

  add({ slug, accountId, kind, object }: EndedHolder): void {
    if (this.count("SELECT 1 FROM holders_1") >= MAX_HOLDERS) return;
    this.run("INSERT OR IGNORE INTO holders_1 (account, object, slug, kind) VALUES (?, ?, ?, ?)", [
      accountId,
      object,
      slug,
      kind,
    ]);
  }

  /** @param accountId all of the object's if omitted. */
  delete({ object }: Pick<Holder, "object">, accountId?: string): void {
    if (accountId === undefined) this.run("DELETE FROM holders_1 WHERE object = ?", [object]);
    else this.run("DELETE FROM holders_1 WHERE object = ? AND account = ?", [object, accountId]);
  }

  end(accountId: string): void {
    this.run("UPDATE holders_1 SET ended = 1 WHERE account = ?", [accountId]);
  }

  /** @returns those that are still to be told. */
  ended(): readonly EndedHolder[] {
    const rows = this.rows<Row>(
      "SELECT slug, account, kind, object FROM holders_1 WHERE ended = 1",
    );
    return rows.map(({ account: accountId, ...row }) => ({ accountId, ...row }));
  }
}
