/** A part of an object: its tables, and the methods on them. */

import type { Sql, SqlValue } from "./sql.ts";

type Bindings = readonly SqlValue[];

export abstract class Records {
  /** The statements that make the tables, unless they exist. */
  static readonly SCHEMA: readonly string[] = [];
  readonly #sql: Sql;
  protected readonly now: () => number;

  /** @param now milliseconds since 1970. */
  constructor(sql: Sql, now: () => number = () => Date.now()) {
    this.#sql = sql;
    this.now = now;
    for (const statement of new.target.SCHEMA) sql.exec(statement);
  }

  protected run(statement: string, bindings: Bindings = []): void {
    this.#sql.exec(statement, ...bindings);
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a query names its row
  protected rows<Row extends Record<string, SqlValue>>(
    query: string,
    bindings: Bindings = [],
  ): readonly Row[] {
    return [...this.#sql.exec<Row>(query, ...bindings)];
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a query names its row
  protected row<Row extends Record<string, SqlValue>>(
    query: string,
    bindings: Bindings = [],
  ): Row | undefined {
    return this.rows<Row>(query, bindings)[0];
  }

  /** @returns the number of rows that a query finds, or that a statement with `RETURNING` changes. */
  protected count(query: string, bindings: Bindings = []): number {
    return this.rows(query, bindings).length;
  }
}
