/**
 * Numbers the news of a server, over all lives of whoever holds its desk: they grow, and one row is
 * written in each life that has news.
 */

import type { Sql } from "../../lib/sql.ts";

/** Of one life; two million lives fit into the integers that a double holds. */
const PER_LIFE = 2 ** 32;

export class NewsNumbers {
  readonly #sql: Sql;
  #life: number | undefined;
  #count = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
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
      `INSERT INTO news_lives_1 (id, life) VALUES (0, 1)
       ON CONFLICT (id) DO UPDATE SET life = life + 1 RETURNING life`,
    );
    let life = 0;
    for (const row of rows) life = row.life;
    return life;
  }
}
