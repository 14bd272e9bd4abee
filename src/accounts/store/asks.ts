/**
 * The links that were given out to connect an account. A link is a pointer and not a capability: it is worth
 * nothing without the session of the person in whose vault it is. There is one for each server and set of
 * scopes, which is given out again as long as it is good, and for longer then.
 */

import { Records } from "../../lib/records.ts";

export interface Ask {
  /** The hash of its handle. */
  readonly id: string;
  readonly slug: string;
  readonly scopes: readonly string[];
  /** The handle, sealed: it is given out again. */
  readonly sealed: string;
}

type Row = { id: string; slug: string; scopes: string; sealed: string; expires: number };

const ASK_MS = 600_000;
/** A link that is given out once more with less than this left is made to last. */
const EXTEND_MS = ASK_MS / 2;
const MAX_ASKS = 100;

export class Asks extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS asks_1 (
      id TEXT PRIMARY KEY, slug TEXT NOT NULL, scopes TEXT NOT NULL, sealed TEXT NOT NULL,
      expires INTEGER NOT NULL, UNIQUE (slug, scopes)
    ) WITHOUT ROWID`,
  ];

  open({ id, slug, scopes, sealed }: Ask): void {
    this.run(
      "INSERT OR REPLACE INTO asks_1 (id, slug, scopes, sealed, expires) VALUES (?, ?, ?, ?, ?)",
      [id, slug, keyOf(scopes), sealed, this.now() + ASK_MS],
    );
    this.run(
      `DELETE FROM asks_1 WHERE id IN
       (SELECT id FROM asks_1 ORDER BY expires DESC LIMIT -1 OFFSET ?)`,
      [MAX_ASKS],
    );
  }

  /** @returns the link that is good for these scopes, which lasts for some minutes from now. */
  again(slug: string, scopes: readonly string[]): Ask | undefined {
    const row = this.row<Row>(
      "SELECT * FROM asks_1 WHERE slug = ? AND scopes = ? AND expires > ?",
      [slug, keyOf(scopes), this.now()],
    );
    if (row === undefined) return undefined;
    if (row.expires - this.now() < EXTEND_MS) {
      this.run("UPDATE asks_1 SET expires = ? WHERE id = ?", [this.now() + ASK_MS, row.id]);
    }
    return asked(row);
  }

  /** @param id the hash of a handle. */
  find(id: string, slug: string): Ask | undefined {
    const row = this.row<Row>("SELECT * FROM asks_1 WHERE id = ? AND slug = ? AND expires > ?", [
      id,
      slug,
      this.now(),
    ]);
    return row === undefined ? undefined : asked(row);
  }

  forget(slug: string): void {
    this.run("DELETE FROM asks_1 WHERE slug = ?", [slug]);
  }

  /** Deletes expired rows. @returns when the next one is due; `undefined` when there is none. */
  sweep(): number | undefined {
    this.run("DELETE FROM asks_1 WHERE expires <= ?", [this.now()]);
    return (
      this.row<{ at: number | null }>("SELECT MIN(expires) AS at FROM asks_1")?.at ?? undefined
    );
  }
}

function asked({ id, slug, scopes, sealed }: Row): Ask {
  return { id, slug, scopes: JSON.parse(scopes) as readonly string[], sealed };
}

/** Scopes are a set (RFC 6749 section 3.3). */
function keyOf(scopes: readonly string[]): string {
  return JSON.stringify([...new Set(scopes)].toSorted());
}
