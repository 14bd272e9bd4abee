/**
 * Attempts to sign in, while they last. An attempt is found by the hash of its handle and is bound
 * to one browser by the hash of a cookie; its content is sealed with a key that is derived from the
 * handle, so it cannot be read here.
 *
 * It goes from the question to the sign-in to its end, each step once: of several concurrent
 * requests for a step, one gets it. A request that is repeated within seconds, as by a double
 * click, waits for that one and gets the same answer. A step that failed may be free again: then one
 * of the waiting requests takes it.
 */

import { Records } from "../../lib/records.ts";

/** The stage of an attempt: it waits for the person's decision, or for their sign-in. */
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

/** The result of a step that another request took. */
export type Repeated =
  /** The step was taken a moment ago; this is its answer. Sealed. */
  | { readonly kind: "answered"; readonly answer: string }
  /** No such attempt of this browser exists, or not at this stage. */
  | { readonly kind: "gone" };

export type Taken =
  /** The caller alone has the step, and must `settle` it with this claim. */
  { readonly kind: "taken"; readonly content: string; readonly claim: number } | Repeated;

export interface Settlement {
  /** The claim that the caller has: the step may have been taken again since. */
  readonly claim: number;
  /** The next stage of the attempt; absent when it is over. */
  readonly stage?: Stage;
  /** Replaces the earlier content. Sealed. */
  readonly content?: string;
  /** The answer for repeated requests. Sealed. Absent when there is none to repeat. */
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

/** The stage while a step is being taken, and when the attempt is over. */
const BUSY = "";
const OVER = "over";
/** The time for which an answer is repeated: as long as a person clicks who sees nothing happen. */
const REPEAT_MS = 10_000;

const GONE: Repeated = { kind: "gone" };

export class Attempts extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS attempts_1 (
      id TEXT PRIMARY KEY, browser TEXT NOT NULL, stage TEXT NOT NULL, content TEXT NOT NULL,
      expires INTEGER NOT NULL, taken TEXT, taken_at INTEGER NOT NULL DEFAULT 0, answer TEXT
    ) WITHOUT ROWID`,
    "CREATE INDEX IF NOT EXISTS attempts_1_expires ON attempts_1 (expires)",
  ];
  /** The callers that wait for an answer, by the attempt. */
  readonly #waiting = new Map<string, Set<() => void>>();

  open({ id, browser, stage, content, expiresAt }: NewAttempt): void {
    this.run(
      "INSERT INTO attempts_1 (id, browser, stage, content, expires) VALUES (?, ?, ?, ?, ?)",
      [id, browser, stage, content, expiresAt],
    );
  }

  /** @returns the attempt while it waits for an answer. */
  find(id: string, browser: string): StoredAttempt | undefined {
    const row = this.#row(id, browser);
    if (row === undefined || row.stage === BUSY || row.stage === OVER) return undefined;
    return { stage: row.stage as Stage, content: row.content };
  }

  /** Replaces the content. @returns whether the attempt was at that stage. */
  change(id: string, browser: string, { stage, content }: StoredAttempt): boolean {
    if (this.#row(id, browser)?.stage !== stage) return false;
    this.run("UPDATE attempts_1 SET content = ? WHERE id = ?", [content, id]);
    return true;
  }

  /** Takes a step. No other code runs between reading and writing, so one caller gets it. */
  async take(id: string, browser: string, stage: Stage): Promise<Taken> {
    for (let row = this.#row(id, browser); row !== undefined; row = this.#row(id, browser)) {
      if (row.stage === stage) return this.#claim(row, stage);
      if (!(await this.#isSettled(row, stage))) break;
      const repeated = this.#answered(id, browser, stage);
      if (repeated.kind === "answered") return repeated;
    }
    return this.#answered(id, browser, stage);
  }

  #claim({ id, content, taken_at: earlier }: Row, stage: Stage): Taken {
    // Each claim of an attempt is a time of its own, also within one millisecond.
    const claim = Math.max(this.now(), earlier + 1);
    this.run(
      "UPDATE attempts_1 SET stage = ?, taken = ?, taken_at = ?, answer = NULL WHERE id = ?",
      [BUSY, stage, claim, id],
    );
    return { kind: "taken", content, claim };
  }

  /** @returns the result of a step that was taken a moment ago, once it is settled. */
  async again(id: string, browser: string, stage: Stage): Promise<Repeated> {
    const row = this.#row(id, browser);
    if (row !== undefined) await this.#isSettled(row, stage);
    return this.#answered(id, browser, stage);
  }

  #answered(id: string, browser: string, stage: Stage): Repeated {
    const row = this.#row(id, browser);
    if (row?.taken !== stage || row.answer === null || this.#leftMs(row) <= 0) return GONE;
    return { kind: "answered", answer: row.answer };
  }

  #leftMs({ taken_at: takenAt }: Row): number {
    return takenAt + REPEAT_MS - this.now();
  }

  /** Ends the step that the caller took, and releases the waiting callers. */
  settle(id: string, { claim, stage, content, answer }: Settlement): void {
    this.run(
      `UPDATE attempts_1 SET stage = ?, content = COALESCE(?, content), answer = ?
       WHERE id = ? AND stage = ? AND taken_at = ?`,
      [stage ?? OVER, content ?? null, answer ?? null, id, BUSY, claim],
    );
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** Deletes expired rows. */
  sweep(): void {
    this.run("DELETE FROM attempts_1 WHERE expires <= ?", [this.now()]);
  }

  #row(id: string, browser: string): Row | undefined {
    const row = this.row<Row>(
      "SELECT * FROM attempts_1 WHERE id = ? AND browser = ? AND expires > ?",
      [id, browser, this.now()],
    );
    return row;
  }

  /**
   * Waits while another request takes the step.
   *
   * @returns whether it was settled; `false` as well when there is nothing to wait for, or no longer.
   */
  async #isSettled(row: Row, stage: Stage): Promise<boolean> {
    const ms = this.#leftMs(row);
    if (row.stage !== BUSY || row.taken !== stage || ms <= 0) return false;
    const { id } = row;
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting);
    let timer: number | null = null;
    let wake: (() => void) | undefined;
    try {
      return await new Promise<boolean>((resolve) => {
        wake = () => resolve(true);
        waiting.add(wake);
        timer = setTimeout(() => resolve(false), ms);
      });
    } finally {
      clearTimeout(timer);
      if (wake !== undefined) waiting.delete(wake);
      if (waiting.size === 0) this.#waiting.delete(id);
    }
  }
}
