/**
 * A part of an object: its tables, and the methods on them. A table's name ends in the number of its layout: a later
 * layout is another table, into which the statements of `SCHEMA` carry the rows of the earlier one.
 */

import type { Sql, SqlValue } from "./sql.ts";

type Bindings = readonly SqlValue[];

export abstract class Records {
  /** The statements that make the tables, unless they exist; they run whenever the object starts. */
  static readonly SCHEMA: readonly string[] = [];
  readonly #sql: Sql;
  protected readonly now: () => number;

  /**
   * @param now milliseconds since 1970.
   * @throws Error for a database in which a later version has carried the rows to a later layout: to this version
   *   it would look empty, and people would seem to be unknown.
   */
  constructor(sql: Sql, now: () => number = () => Date.now()) {
    this.#sql = sql;
    this.now = now;
    refuseLater(sql, new.target.SCHEMA);
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

const TABLE = /^CREATE TABLE IF NOT EXISTS (\w+_)(\d+)/;
/** The tables that an object found when it started: many parts share its database, and one query is enough. */
const found = new WeakMap<Sql, readonly string[]>();

function refuseLater(sql: Sql, schema: readonly string[]): void {
  const known = new Map<string, number>();
  for (const statement of schema) {
    const [, base, number] = TABLE.exec(statement) ?? [];
    if (base !== undefined) known.set(base, Math.max(known.get(base) ?? 0, Number(number)));
  }
  for (const [base, number] of known) {
    const isLater = (name: string): boolean =>
      name.startsWith(base) && Number(name.slice(base.length)) > number;
    const later = tablesIn(sql).find(isLater);
    if (later === undefined) continue;
    throw new Error(
      `A later version of Edgeway has written ${later}, and this one knows ${base}${number}. Deploy that version again.`,
    );
  }
}

function tablesIn(sql: Sql): readonly string[] {
  const known = found.get(sql);
  if (known !== undefined) return known;
  const rows = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  const names = Array.from(rows, ({ name }) => name);
  found.set(sql, names);
  return names;
}
