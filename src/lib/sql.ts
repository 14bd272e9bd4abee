/** The port to a database; the SQLite storage of a Durable Object satisfies it by shape. */

export type SqlValue = string | number | null;

export interface Sql {
  /** Runs one statement. What it writes is durable before anything sent later leaves the holder. */
  exec<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): Iterable<Row>;
}
