/**
 * All streams in one table: a row's id combines the number of its stream and its place there, so one
 * primary key finds a stream and orders it. The platform bills each written row, so events that come in a
 * burst share one: it has the place of the last of them, and an event on each line. The table's name ends
 * in the number of its layout: a later layout is another table.
 */

import type { StreamKind } from "./event-id.ts";
import type { Sql, SqlValue } from "../../lib/sql.ts";

const TABLE = "events_1";
/** The most rows of a stream; stream numbers have the other 27 bits of a safe integer. */
export const STREAM_ROWS = 2 ** 26;

/** The most that events may share: a resume in the middle of a row reads the whole row. */
const SHARED_EVENTS = 256;
const SHARED_CHARS = 64 * 1024;
/** Between the events of a row: JSON on one line has none. */
const SEPARATOR = "\n";

/** Bits of a row's state; the bits above them count the events that share the row with its last one. */
export const RowState = {
  /** The event continues in the next row. */
  Part: 1,
  /** The stream ends with this row. */
  Final: 2,
  /** The event is no longer kept; its row marks the place. */
  Expired: 4,
} as const;
const FLAGS = RowState.Part | RowState.Final | RowState.Expired;
const COUNT_SHIFT = 3;

export interface Row {
  readonly kind: StreamKind;
  readonly number: number;
  readonly nonce: string;
  /** The place of the row's last event. */
  readonly seq: number;
  readonly at: number;
  /** Characters ever appended to the stream up to this row, resume tokens included. */
  readonly chars: number;
  readonly state: number;
  /** The number of events that share the row. */
  readonly events: number;
  /** An event on each line. */
  readonly data: string;
  /** Of the last event. */
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
  /** By stream, the newest row where it is not written yet, because more events may share it. */
  readonly #unwritten = new Map<number, Row>();

  /** @param onDelete called with the ids of the rows that are deleted, both included. */
  constructor(sql: Sql, onDelete: (from: number, to: number) => void) {
    this.#sql = sql;
    this.#onDelete = onDelete;
    this.#exists =
      first(sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", TABLE)) !== undefined;
  }

  /**
   * Adds an event to the unwritten row of its stream, or begins another row.
   *
   * @param isShared the row is written with the events that follow, at the latest by `flush` and before
   *   the table is read; otherwise, at once.
   */
  add(event: Row, isShared: boolean): void {
    const begun = this.#unwritten.get(event.number);
    const isLine = !event.data.includes(SEPARATOR);
    let row = event;
    if (begun !== undefined) {
      if (isLine && fits(event, begun)) {
        const data = begun.data + SEPARATOR + event.data;
        row = { ...event, events: begun.events + 1, data };
      } else this.#insert(begun);
    }
    if (isShared && isLine && row.state === 0) this.#unwritten.set(row.number, row);
    else this.#insert(row);
  }

  /** Writes what is unwritten. */
  flush(): void {
    for (const row of this.#unwritten.values()) this.#insert(row);
  }

  /** The number of the stream's newest events that are not written. */
  unwritten(stream: number): number {
    return this.#unwritten.get(stream)?.events ?? 0;
  }

  #insert(row: Row): void {
    this.#write("INSERT", row);
    // Not before it is written: where that fails, it fails again for the next event.
    this.#unwritten.delete(row.number);
  }

  /** Writes a row that marks a place, and replaces the one before. */
  hold(row: Row): void {
    this.#write("INSERT OR REPLACE", row);
  }

  /** The first row creates the table: a session that logs nothing has none. */
  #write(
    verb: string,
    { kind, number, nonce, seq, at, chars, state, events, data, resumeToken }: Row,
  ): void {
    if (this.#isClosed) return;
    if (!this.#exists) {
      this.#sql.exec(`CREATE TABLE ${TABLE} (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, nonce TEXT NOT NULL, at INTEGER NOT NULL,
        chars INTEGER NOT NULL, state INTEGER NOT NULL, data TEXT NOT NULL, origin TEXT)`);
      this.#exists = true;
    }
    const counted = state | ((events - 1) << COUNT_SHIFT);
    this.#sql.exec(
      `${verb} INTO ${TABLE} VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[rowId(number, seq), kind, nonce, at, chars, counted, data, resumeToken ?? null],
    );
  }

  /** Stops all writes: the table is deleted and must not be created again. */
  close(): void {
    this.#unwritten.clear();
    this.#exists = false;
    this.#isClosed = true;
  }

  /** The rows whose last events are from one place of a stream to another, both included. */
  *range(stream: number, from: number, to: number): Generator<Row, void, void> {
    const where = "id BETWEEN ? AND ? ORDER BY id";
    for (const row of this.#select(where, rowId(stream, from), rowId(stream, to))) yield read(row);
  }

  at(stream: number, seq: number): Row | undefined {
    return first(this.range(stream, seq, seq));
  }

  /** The resume tokens of a stream's newest rows, the newest first. */
  *resumeTokens(stream: number, max: number): Generator<string, void, void> {
    const where = "id BETWEEN ? AND ? AND origin IS NOT NULL ORDER BY id DESC LIMIT ?";
    const [from, to] = [rowId(stream, 0), rowId(stream, STREAM_ROWS - 1)];
    if (!this.#isWritten()) return;
    const query = `SELECT origin FROM ${TABLE} WHERE ${where}`;
    for (const { origin } of this.#sql.exec<{ origin: string }>(query, from, to, max)) yield origin;
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

  /** Marks the row of a stream's last event. */
  markFinal(stream: number, seq: number): void {
    const query = `UPDATE ${TABLE} SET state = state | ${RowState.Final} WHERE id = ?`;
    this.#change(query, rowId(stream, seq));
  }

  setResumeToken(
    stream: number,
    seq: number,
    { resumeToken, chars }: { readonly resumeToken: string; readonly chars: number },
  ): void {
    const query = `UPDATE ${TABLE} SET origin = ?, chars = ? WHERE id = ?`;
    this.#change(query, resumeToken, chars, rowId(stream, seq));
  }

  /** Deletes a row's data and keeps its place. */
  blank(stream: number, seq: number): void {
    const query = `UPDATE ${TABLE} SET data = '', state = ${RowState.Expired} WHERE id = ?`;
    this.#change(query, rowId(stream, seq));
  }

  /** Deletes the rows from one place to another, both included. */
  delete(stream: number, from: number, to: number): void {
    if (!this.#isWritten()) return;
    const ids = [rowId(stream, from), rowId(stream, to)] as const;
    this.#sql.exec(`DELETE FROM ${TABLE} WHERE id BETWEEN ? AND ?`, ...ids);
    this.#onDelete(...ids);
  }

  #change(query: string, ...bindings: SqlValue[]): void {
    if (this.#isWritten()) this.#sql.exec(query, ...bindings);
  }

  #select(where: string, ...bindings: SqlValue[]): Iterable<StoredRow> {
    if (!this.#isWritten()) return [];
    return this.#sql.exec<StoredRow>(`SELECT * FROM ${TABLE} WHERE ${where}`, ...bindings);
  }

  /** A row without its data, which may be large. */
  #end(where: string, id: number): RowEnd | undefined {
    if (!this.#isWritten()) return undefined;
    const columns =
      "id, kind, nonce, at, chars, state, '' AS data, origin, length(data) + coalesce(length(origin), 0) AS size";
    const query = `SELECT ${columns} FROM ${TABLE} WHERE ${where} LIMIT 1`;
    const found = first(this.#sql.exec<StoredRow & { readonly size: number }>(query, id));
    return found === undefined ? undefined : { ...read(found), size: found.size };
  }

  #place(where: string, stream: number, ...bindings: SqlValue[]): number | undefined {
    if (!this.#isWritten()) return undefined;
    const query = `SELECT id FROM ${TABLE} WHERE id BETWEEN ? AND ? AND ${where} LIMIT 1`;
    const range = [rowId(stream, 0), rowId(stream, STREAM_ROWS - 1)];
    const found = first(this.#sql.exec<{ id: number }>(query, ...range, ...bindings));
    return found === undefined ? undefined : found.id % STREAM_ROWS;
  }

  /** Writes what is unwritten. @returns `true` when there is a table. */
  #isWritten(): boolean {
    this.flush();
    return this.#exists;
  }
}

export function rowId(stream: number, seq: number): number {
  return stream * STREAM_ROWS + seq;
}

export function placeOf(id: number): Pick<Row, "number" | "seq"> {
  return { number: Math.floor(id / STREAM_ROWS), seq: id % STREAM_ROWS };
}

/** The events of a row, with their places. */
export function* eventsIn({ seq, events, data }: Row): Generator<Pick<Row, "seq" | "data">> {
  if (events === 1) return yield { seq, data };
  let place = seq - events;
  for (const line of data.split(SEPARATOR)) yield { seq: ++place, data: line };
}

/** True when the next event of the stream may share the row. */
function fits({ state, data }: Row, row: Row): boolean {
  return (
    (state & RowState.Part) === 0 &&
    row.events < SHARED_EVENTS &&
    row.data.length + data.length < SHARED_CHARS
  );
}

function read({ id, state, origin, ...columns }: StoredRow): Row {
  const events = (state >> COUNT_SHIFT) + 1;
  const resumeToken = origin ?? undefined;
  return { ...columns, ...placeOf(id), state: state & FLAGS, events, resumeToken };
}

function first<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}
