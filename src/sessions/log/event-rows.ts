/**
 * All streams in one table: a row's id combines the number of its stream and its place there, so one
 * primary key finds a stream, orders it, and costs one written row for each event. The table's name
 * ends in the number of its layout: a later layout is another table.
 */

import type { StreamKind } from "./event-id.ts";
import type { Sql, SqlValue } from "../../lib/sql.ts";

const TABLE = "events_1";
/** The most rows of a stream; stream numbers have the other 27 bits of a safe integer. */
export const STREAM_ROWS = 2 ** 26;

/** Bits of a row's state. */
export const RowState = {
  /** The event continues in the next row. */
  Part: 1,
  /** The stream ends with this row. */
  Final: 2,
  /** The event is no longer kept; its row marks the place. */
  Expired: 4,
} as const;

export interface Row {
  readonly kind: StreamKind;
  readonly number: number;
  readonly nonce: string;
  readonly seq: number;
  readonly at: number;
  /** Characters ever appended to the stream up to this row, resume tokens included. */
  readonly chars: number;
  readonly state: number;
  readonly data: string;
  readonly resumeToken: string | undefined;
}

/** A row whose data was not read. */
export interface RowEnd extends Row {
  /** Characters of the data and of the resume token. */
  readonly size: number;
}

interface StoredRow extends Record<string, SqlValue> {
  readonly id: number;
  readonly kind: StreamKind;
  readonly nonce: string;
  readonly at: number;
  readonly chars: number;
  readonly state: number;
  readonly data: string;
  readonly origin: string | null;
}

export class EventRows {
  readonly #sql: Sql;
  readonly #onDelete: (from: number, to: number) => void;
  #exists: boolean;
  #isClosed = false;

  /** @param onDelete called with the ids of the rows that are deleted, both included. */
  constructor(sql: Sql, onDelete: (from: number, to: number) => void) {
    this.#sql = sql;
    this.#onDelete = onDelete;
    this.#exists =
      first(sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", TABLE)) !== undefined;
  }

  /** Writes one row. The first one creates the table: a session that logs nothing has none. */
  insert(row: Row): void {
    this.#write("INSERT", row);
  }

  /** Writes a row that marks a place, and replaces the one before. */
  hold(row: Row): void {
    this.#write("INSERT OR REPLACE", row);
  }

  #write(
    verb: string,
    { kind, number, nonce, seq, at, chars, state, data, resumeToken }: Row,
  ): void {
    if (this.#isClosed) return;
    if (!this.#exists) {
      this.#sql.exec(`CREATE TABLE ${TABLE} (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, nonce TEXT NOT NULL, at INTEGER NOT NULL,
        chars INTEGER NOT NULL, state INTEGER NOT NULL, data TEXT NOT NULL, origin TEXT)`);
      this.#exists = true;
    }
    this.#sql.exec(
      `${verb} INTO ${TABLE} VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[rowId(number, seq), kind, nonce, at, chars, state, data, resumeToken ?? null],
    );
  }

  /** Stops all writes: the table is deleted and must not be created again. */
  close(): void {
    this.#exists = false;
    this.#isClosed = true;
  }

  /** The rows of a stream from one place to another, both included. */
  *range(stream: number, from: number, to: number): Generator<Row, void, void> {
    const where = "id BETWEEN ? AND ? ORDER BY id";
    for (const row of this.#select(where, rowId(stream, from), rowId(stream, to))) yield read(row);
  }

  at(stream: number, seq: number): Row | undefined {
    return first(this.range(stream, seq, seq));
  }

  /** The last place of a stream that was written no later than `at`. */
  lastUntil(stream: number, at: number): number | undefined {
    return this.#place("at <= ? ORDER BY id DESC", stream, at);
  }

  /** The first place where an event ends and the stream has reached so many rows and characters. */
  firstFrom(stream: number, { seq, chars }: { seq: number; chars: number }): number | undefined {
    const where = `chars >= ? AND id >= ? AND state & ${RowState.Part} = 0 ORDER BY id`;
    return this.#place(where, stream, chars, rowId(stream, seq));
  }

  /** The first and the last row of every stream: two seeks for each, however long they are. */
  *ends(): Generator<{ readonly first: RowEnd; readonly last: RowEnd }, void, void> {
    let from = 0;
    for (;;) {
      const head = this.#end("id >= ? ORDER BY id", from);
      if (head === undefined) return;
      from = rowId(head.number + 1, 0);
      yield { first: head, last: this.#end("id < ? ORDER BY id DESC", from) ?? head };
    }
  }

  setState(stream: number, seq: number, state: number): void {
    this.#change(`UPDATE ${TABLE} SET state = ? WHERE id = ?`, state, rowId(stream, seq));
  }

  setResumeToken(stream: number, seq: number, resumeToken: string): void {
    this.#change(`UPDATE ${TABLE} SET origin = ? WHERE id = ?`, resumeToken, rowId(stream, seq));
  }

  /** Deletes a row's data and keeps its place. */
  blank(stream: number, seq: number): void {
    const query = `UPDATE ${TABLE} SET data = '', state = ${RowState.Expired} WHERE id = ?`;
    this.#change(query, rowId(stream, seq));
  }

  /** Deletes the rows from one place to another, both included. */
  delete(stream: number, from: number, to: number): void {
    if (!this.#exists) return;
    const ids = [rowId(stream, from), rowId(stream, to)] as const;
    this.#sql.exec(`DELETE FROM ${TABLE} WHERE id BETWEEN ? AND ?`, ...ids);
    this.#onDelete(...ids);
  }

  #change(query: string, ...bindings: SqlValue[]): void {
    if (this.#exists) this.#sql.exec(query, ...bindings);
  }

  #select(where: string, ...bindings: SqlValue[]): Iterable<StoredRow> {
    if (!this.#exists) return [];
    return this.#sql.exec<StoredRow>(`SELECT * FROM ${TABLE} WHERE ${where}`, ...bindings);
  }

  /** A row without its data, which may be large. */
  #end(where: string, id: number): RowEnd | undefined {
    if (!this.#exists) return undefined;
    const columns =
      "id, kind, nonce, at, chars, state, '' AS data, origin, length(data) + coalesce(length(origin), 0) AS size";
    const query = `SELECT ${columns} FROM ${TABLE} WHERE ${where} LIMIT 1`;
    const found = first(this.#sql.exec<StoredRow & { readonly size: number }>(query, id));
    return found === undefined ? undefined : { ...read(found), size: found.size };
  }

  #place(where: string, stream: number, ...bindings: SqlValue[]): number | undefined {
    if (!this.#exists) return undefined;
    const query = `SELECT id FROM ${TABLE} WHERE id BETWEEN ? AND ? AND ${where} LIMIT 1`;
    const range = [rowId(stream, 0), rowId(stream, STREAM_ROWS - 1)];
    const found = first(this.#sql.exec<{ id: number }>(query, ...range, ...bindings));
    return found === undefined ? undefined : found.id % STREAM_ROWS;
  }
}

export function rowId(stream: number, seq: number): number {
  return stream * STREAM_ROWS + seq;
}

export function placeOf(id: number): Pick<Row, "number" | "seq"> {
  return { number: Math.floor(id / STREAM_ROWS), seq: id % STREAM_ROWS };
}

function read({ id, kind, nonce, at, chars, state, data, origin }: StoredRow): Row {
  return { kind, ...placeOf(id), nonce, at, chars, state, data, resumeToken: origin ?? undefined };
}

function first<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}
