/** The stored rows of metadata documents, and of failures to load one. */

import type { Sql, SqlValue } from "../../lib/sql.ts";
import type { ClientRecord } from "./client-document.ts";

/** The last document that was valid for a client. */
interface KeptDocument {
  readonly client: ClientRecord;
  readonly digest: string;
  /** Milliseconds since 1970, like all times here. */
  readonly loadedAt: number;
}

export interface DocumentRow {
  readonly kept: KeptDocument | undefined;
  /** The failure of the last load, if it failed. */
  readonly failure: string | undefined;
  /** When to load it again. */
  readonly nextAt: number;
}

interface StoredRow extends Record<string, SqlValue> {
  readonly client: string | null;
  readonly digest: string | null;
  readonly loaded: number | null;
  readonly failure: string | null;
  readonly next: number;
}

export class DocumentRows {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS documents_1 (
      url TEXT PRIMARY KEY, client TEXT, digest TEXT, loaded INTEGER, failure TEXT,
      next INTEGER NOT NULL
    ) WITHOUT ROWID`);
  }

  get(url: string): DocumentRow | undefined {
    const [row] = this.#sql.exec<StoredRow>("SELECT * FROM documents_1 WHERE url = ?", url);
    if (row === undefined) return undefined;
    const { client, digest, loaded, failure, next } = row;
    const isKept = client !== null && digest !== null && loaded !== null;
    return {
      // As `put` wrote it.
      kept: isKept ? { client: JSON.parse(client), digest, loadedAt: loaded } : undefined,
      failure: failure ?? undefined,
      nextAt: next,
    };
  }

  put(url: string, { kept, failure, nextAt }: DocumentRow): void {
    this.#sql.exec(
      `INSERT OR REPLACE INTO documents_1 (url, client, digest, loaded, failure, next)
       VALUES (?, ?, ?, ?, ?, ?)`,
      url,
      kept === undefined ? null : JSON.stringify(kept.client),
      kept?.digest ?? null,
      kept?.loadedAt ?? null,
      failure ?? null,
      nextAt,
    );
  }

  /** Deletes the rows that are due and too old to stand in, and then those over `maxRows`. */
  sweep(options: { now: number; loadedBefore: number; maxRows: number }): void {
    this.#sql.exec(
      "DELETE FROM documents_1 WHERE next <= ? AND (loaded IS NULL OR loaded <= ?)",
      ...[options.now, options.loadedBefore],
    );
    // The failures go first: they are due soonest.
    this.#sql.exec(
      `DELETE FROM documents_1 WHERE url IN
       (SELECT url FROM documents_1 ORDER BY next DESC LIMIT -1 OFFSET ?)`,
      options.maxRows,
    );
  }
}
