/** A database of its own for a test, in a real object, and a clock that the test sets. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import type { Sql } from "../../../src/lib/sql.ts";

export interface SqlFixture {
  readonly sql: Sql;
  /** Milliseconds since 1970; it stands still unless it is set. */
  readonly clock: { now: number };
  /** How many rows a table has. */
  readonly rowsIn: (table: string) => number;
  /** Deletes the database. */
  readonly deleteAll: () => Promise<void>;
}

export const START = 1_800_000_000_000;

export function withSql<T>(act: (fixture: SqlFixture) => T | Promise<T>): Promise<T> {
  const object = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  return runInDurableObject(object, (_instance, { storage }) => {
    const { sql } = storage;
    return act({
      sql,
      clock: { now: START },
      rowsIn: (table) => sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n,
      deleteAll: () => storage.deleteAll(),
    });
  });
}
