/** The port to the database of one session; a Durable Object's `storage.sql` satisfies it by shape. */

export type SqlValue = string | number | null;

export interface Sql {
  /** Runs one statement. What it writes is durable before anything sent later leaves the holder. */
  exec<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): Iterable<Row>;
}
