/**
 * Attempts to sign in, while they last. An attempt is found by the hash of its handle and is bound
 * to one browser by the hash of a cookie; what it is about is sealed with a key that is made of the
 * handle, so nobody can read it here.
 *
 * It goes from the question to the sign-in to its end, each step once: of several who take a step,
 * one gets it. Who sends the same again within seconds, as a double click does, waits for that one,
 * and is given the same answer.
 */

import type { Sql } from "../../lib/sql.ts";

/** What an attempt waits for: somebody's decision, or to know who they are. */
export type Stage = "consent" | "login";

export interface NewAttempt {
  /** The hash of its handle. */
  readonly id: string;
  /** The hash of the browser's cookie. */
  readonly browser: string;
  readonly stage: Stage;
  /** Sealed. */
  readonly content: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export type StoredAttempt = Pick<NewAttempt, "stage" | "content">;

/** What came of a step that somebody took. */
export type Repeated =
  /** They took it a moment ago; this is what they were answered. Sealed. */
  | { readonly kind: "answered"; readonly answer: string }
  /** There is none for this browser, or not any more, or not at this stage. */
  | { readonly kind: "gone" };

export type Taken =
  /** The step is the caller's alone, who has to `settle` it. */
  { readonly kind: "taken"; readonly content: string } | Repeated;

export interface Settlement {
  /** What the attempt waits for next; absent when it is over. */
  readonly stage?: Stage;
  /** In place of the earlier one. Sealed. */
  readonly content?: string;
  /** For who sends the same again. Sealed. Absent when there is none to repeat. */
  readonly answer?: string;
}

type Row = {
  id: string;
  stage: string;
  content: string;
  taken: string | null;
  taken_at: number;
  answer: string | null;
};

/** While the one who took a step is at it, and when it is over. */
const BUSY = "";
const OVER = "over";
/** How long an answer is given again: as long as a person clicks who sees nothing happen. */
const REPEAT_MS = 10_000;

const GONE: Repeated = { kind: "gone" };

export class Attempts {
  readonly #sql: Sql;
  readonly #now: () => number;
  /** Those who wait for an answer, by the attempt. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(sql: Sql, now: () => number = () => Date.now()) {
    this.#sql = sql;
    this.#now = now;
    sql.exec(`CREATE TABLE IF NOT EXISTS attempts_1 (
      id TEXT PRIMARY KEY, browser TEXT NOT NULL, stage TEXT NOT NULL, content TEXT NOT NULL,
      expires INTEGER NOT NULL, taken TEXT, taken_at INTEGER NOT NULL DEFAULT 0, answer TEXT
    ) WITHOUT ROWID`);
    sql.exec("CREATE INDEX IF NOT EXISTS attempts_1_expires ON attempts_1 (expires)");
  }

  open({ id, browser, stage, content, expiresAt }: NewAttempt): void {
    this.#sql.exec(
      "INSERT INTO attempts_1 (id, browser, stage, content, expires) VALUES (?, ?, ?, ?, ?)",
      ...[id, browser, stage, content, expiresAt],
    );
  }

  /** @returns the attempt as long as it waits for something. */
  find(id: string, browser: string): StoredAttempt | undefined {
    const row = this.#row(id, browser);
    if (row === undefined || row.stage === BUSY || row.stage === OVER) return undefined;
    return { stage: row.stage as Stage, content: row.content };
  }

  /** Puts other content in its place. @returns whether it was at that stage. */
  change(id: string, browser: string, { stage, content }: StoredAttempt): boolean {
    if (this.#row(id, browser)?.stage !== stage) return false;
    this.#sql.exec("UPDATE attempts_1 SET content = ? WHERE id = ?", content, id);
    return true;
  }

  /** Takes a step. Between reading and writing nothing else runs, so one caller gets it. */
  async take(id: string, browser: string, stage: Stage): Promise<Taken> {
    const row = this.#row(id, browser);
    if (row === undefined) return GONE;
    if (row.stage === stage) {
      this.#sql.exec(
        "UPDATE attempts_1 SET stage = ?, taken = ?, taken_at = ?, answer = NULL WHERE id = ?",
        ...[BUSY, stage, this.#now(), id],
      );
      return { kind: "taken", content: row.content };
    }
    return this.again(id, browser, stage);
  }

  /** What came of a step that was taken a moment ago, when it is settled. */
  async again(id: string, browser: string, stage: Stage): Promise<Repeated> {
    const row = this.#row(id, browser);
    const leftMs = (row?.taken_at ?? 0) + REPEAT_MS - this.#now();
    if (row?.taken !== stage || leftMs <= 0) return GONE;
    if (row.stage === BUSY) await this.#settled(id, leftMs);
    const answer = this.#row(id, browser)?.answer ?? null;
    return answer === null ? GONE : { kind: "answered", answer };
  }

  /** Ends the step that the caller took. */
  settle(id: string, { stage, content, answer }: Settlement): void {
    this.#sql.exec(
      `UPDATE attempts_1 SET stage = ?, content = COALESCE(?, content), answer = ?
       WHERE id = ? AND stage = ?`,
      ...[stage ?? OVER, content ?? null, answer ?? null, id, BUSY],
    );
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** Removes what has expired. */
  sweep(): void {
    this.#sql.exec("DELETE FROM attempts_1 WHERE expires <= ?", this.#now());
  }

  #row(id: string, browser: string): Row | undefined {
    const [row] = this.#sql.exec<Row>(
      "SELECT * FROM attempts_1 WHERE id = ? AND browser = ? AND expires > ?",
      ...[id, browser, this.#now()],
    );
    return row;
  }

  /** Resolves when the step is settled, or when there is no use in waiting any longer. */
  async #settled(id: string, ms: number): Promise<void> {
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting);
    let timer: number | null = null;
    let wake: (() => void) | undefined;
    try {
      await new Promise<void>((resolve) => {
        wake = resolve;
        waiting.add(resolve);
        timer = setTimeout(resolve, ms);
      });
    } finally {
      clearTimeout(timer);
      if (wake !== undefined) waiting.delete(wake);
      if (waiting.size === 0) this.#waiting.delete(id);
    }
  }
}
