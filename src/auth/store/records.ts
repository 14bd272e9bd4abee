/** A part of an object: its tables, and the methods on them. */

import type { Sql, SqlValue } from "../../lib/sql.ts";

export abstract class Records {
  /** The statements that make the tables, unless they exist. */
  static readonly SCHEMA: readonly string[] = [];
  protected readonly sql: Sql;
  protected readonly now: () => number;

  /** @param now milliseconds since 1970. */
  constructor(sql: Sql, now: () => number = () => Date.now()) {
    this.sql = sql;
    this.now = now;
    for (const statement of new.target.SCHEMA) sql.exec(statement);
  }

  /** @returns the number of rows that a query finds, or that a statement with `RETURNING` changes. */
  protected count(statement: string, ...bindings: SqlValue[]): number {
    return [...this.sql.exec(statement, ...bindings)].length;
  }
}
