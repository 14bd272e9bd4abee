/**
 * Numbers the news of a server. The numbers grow over all lives of the watch manager's Durable Object,
 * and one row is written in each life that has news. A receiver may remember the last number for
 * longer than that row is kept: so lives are numbered by the clock in seconds, and never restart at one.
 */

import type { Sql } from "../../lib/sql.ts";

/** Numbers in one life; with the seconds until the year 2242, they fit into a double. */
const PER_LIFE = 2 ** 20;

export class NewsNumbers {
  readonly #sql: Sql;
  readonly #now: () => number;
  #life: number | undefined;
  #count = 0;

  /** @param now milliseconds since 1970. */
  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  next(): number {
    if (this.#life === undefined || this.#count === PER_LIFE - 1) {
      this.#life = this.#begin();
      this.#count = 0;
    }
    this.#count += 1;
    return this.#life * PER_LIFE + this.#count;
  }

  #begin(): number {
    this.#sql.exec(
      "CREATE TABLE IF NOT EXISTS news_lives_1 (id INTEGER PRIMARY KEY, life INTEGER)",
    );
    const rows = this.#sql.exec<{ life: number }>(
      `INSERT INTO news_lives_1 (id, life) VALUES (0, ?)
       ON CONFLICT (id) DO UPDATE SET life = max(life + 1, excluded.life) RETURNING life`,
      Math.floor(this.#now() / 1000),
    );
    let life = 0;
    for (const row of rows) life = row.life;
    return life;
  }
}
