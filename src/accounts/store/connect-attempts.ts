/**
 * The attempts to connect an account in a browser. An attempt is found by the hash of its `state`, is bound
 * to one browser by the hash of a cookie, and is taken once. Its content is sealed with a key that only the
 * `state` gives, so it cannot be read here.
 */

import { Records } from "../../lib/records.ts";

export interface NewConnectAttempt {
  /** The hash of its `state`. */
  readonly id: string;
  /** The hash of the browser's cookie. */
  readonly browser: string;
  readonly slug: string;
  /** Who began it. */
  readonly person: string;
  /** Sealed. */
  readonly content: string;
}

export type TakenAttempt =
  /** The caller alone has it, and must `settle` it. */
  | { readonly kind: "taken"; readonly content: string }
  /** It was taken a moment ago; sealed, once there is an answer. */
  | { readonly kind: "repeated"; readonly answer: string | undefined }
  | { readonly kind: "gone" };

type Row = { content: string; taken_at: number | null; answer: string | null };

/** A person may have to find their phone. */
export const ATTEMPT_MS = 600_000;
/** Reloads and link scanners come back within this, and get the same answer. */
const REPEAT_MS = 30_000;
/** Kept beyond its end, to see from how many the browser did not come back. */
const KEPT_MS = 3_600_000;
/** Somebody who begins more within an hour has forgotten the oldest. */
const MAX_ATTEMPTS = 50;

export class ConnectAttempts extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS attempts_1 (
      id TEXT PRIMARY KEY, browser TEXT NOT NULL, slug TEXT NOT NULL, person TEXT NOT NULL,
      content TEXT NOT NULL, begun_at INTEGER NOT NULL, taken_at INTEGER, answer TEXT
    ) WITHOUT ROWID`,
    "CREATE INDEX IF NOT EXISTS attempts_1_begun ON attempts_1 (begun_at)",
  ];

  open({ id, browser, slug, person, content }: NewConnectAttempt): void {
    this.run(
      `INSERT INTO attempts_1 (id, browser, slug, person, content, begun_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
      [id, browser, slug, person, content, this.now()],
    );
    this.run(
      `DELETE FROM attempts_1 WHERE id IN
       (SELECT id FROM attempts_1 ORDER BY begun_at DESC LIMIT -1 OFFSET ?)`,
      [MAX_ATTEMPTS],
    );
  }

  /** No other code runs between reading and writing, so one caller gets it. */
  take(names: Omit<NewConnectAttempt, "content">): TakenAttempt {
    const { id, browser, slug, person } = names;
    const row = this.row<Row>(
      `SELECT content, taken_at, answer FROM attempts_1
       WHERE id = ? AND browser = ? AND slug = ? AND person = ? AND begun_at > ?`,
      [id, browser, slug, person, this.now() - ATTEMPT_MS],
    );
    if (row === undefined) return { kind: "gone" };
    if (row.taken_at === null) {
      this.run("UPDATE attempts_1 SET taken_at = ?, content = '' WHERE id = ?", [this.now(), id]);
      return { kind: "taken", content: row.content };
    }
    if (this.now() - row.taken_at >= REPEAT_MS) return { kind: "gone" };
    return { kind: "repeated", answer: row.answer ?? undefined };
  }

  settle(id: string, answer: string): void {
    this.run("UPDATE attempts_1 SET answer = ? WHERE id = ?", [answer, id]);
  }

  /** @returns how many were begun for a server within this time. */
  begun(slug: string, withinMs: number): number {
    return this.count("SELECT 1 FROM attempts_1 WHERE slug = ? AND begun_at > ?", [
      slug,
      this.now() - withinMs,
    ]);
  }

  /** @returns how many ended without the browser coming back. */
  unanswered(slug: string): number {
    return this.count("SELECT 1 FROM attempts_1 WHERE slug = ? AND taken_at IS NULL", [slug]);
  }

  /** The account is connected, or is not to be: what was begun for it is over. */
  forget(slug: string): void {
    this.run("DELETE FROM attempts_1 WHERE slug = ? AND taken_at IS NULL", [slug]);
  }

  /** Deletes old rows. @returns when the next one is due; `undefined` when there is none. */
  sweep(): number | undefined {
    this.run("DELETE FROM attempts_1 WHERE begun_at <= ?", [this.now() - KEPT_MS]);
    const oldest = this.row<{ at: number | null }>("SELECT MIN(begun_at) AS at FROM attempts_1");
    return oldest?.at === null || oldest === undefined ? undefined : oldest.at + KEPT_MS;
  }
}
