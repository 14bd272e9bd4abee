/** The database of a Durable Object, with counts of the rows read and written. */

import type { Sql, SqlValue } from "../src/lib/sql.ts";
import { count } from "../src/observability/costs.ts";

export function meteredSql(sql: SqlStorage): Sql {
  return {
    exec<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]) {
      const cursor = sql.exec<Row>(query, ...bindings);
      // A writing statement has finished here; a reading one runs on while its rows are read.
      count("rowsWritten", cursor.rowsWritten);
      return { [Symbol.iterator]: () => counted(cursor) };
    },
  };
}

function* counted<Row extends Record<string, SqlValue>>(
  cursor: SqlStorageCursor<Row>,
): Generator<Row, void, void> {
  try {
    yield* cursor;
  } finally {
    count("rowsRead", cursor.rowsRead);
  }
}
