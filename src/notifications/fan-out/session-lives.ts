/**
 * The last life of each session that has asked the branch for something. A call of an earlier one may still be under
 * way when that is over: it knows less than the calls that it would undo.
 */

import type { Sql } from "../../lib/sql.ts";

const LIVES = "lives_1";

export class SessionLives {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ${LIVES} (session TEXT PRIMARY KEY, life INTEGER NOT NULL) WITHOUT ROWID`,
    );
  }

  /** @param life of the caller; a version that numbered none is always listened to. */
  isOver(session: string, life: number | undefined): boolean {
    return typeof life === "number" && life < (this.#of(session) ?? -Infinity);
  }

  /** @returns `false` if the life is over. */
  begin(session: string, life: number | undefined): boolean {
    if (typeof life !== "number") return true;
    const last = this.#of(session) ?? -Infinity;
    if (life > last) this.#sql.exec(`INSERT OR REPLACE INTO ${LIVES} VALUES (?, ?)`, session, life);
    return life >= last;
  }

  forget(session: string): void {
    this.#sql.exec(`DELETE FROM ${LIVES} WHERE session = ?`, session);
  }

  #of(session: string): number | undefined {
    const query = `SELECT life FROM ${LIVES} WHERE session = ?`;
    const [row] = this.#sql.exec<{ life: number }>(query, session);
    return row?.life;
  }
}
