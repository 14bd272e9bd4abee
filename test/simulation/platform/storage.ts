/**
 * The storage of an object: what it wrote in one turn is written at once or not at all, and is confirmed
 * later. A crash keeps what was confirmed, and perhaps more of what was written since, in order.
 */

import type { SQLInputValue } from "node:sqlite";

import { Database, read, type Row } from "./database.ts";

/** Has constraints that refer to other rows looked at when what a turn wrote is kept. */
const DEFERRING = "PRAGMA defer_foreign_keys = ON";

/** One write, which can be done again on another copy. */
type Write = (into: LiveStorage) => void;

/** What was written in a turn. */
export interface Turn {
  readonly writes: readonly Write[];
  /** The alarm at its end. */
  readonly alarmAt: number | null;
}

/** What is on the disk: every confirmed write since the last `deleteAll`. */
export class Disk {
  readonly writes: Write[] = [];
}

/** The storage as one life of the object sees it. */
export class LiveStorage {
  /** None when the life has ended: another one may have it. */
  #lent: Database | undefined;
  readonly kv = new Map<string, unknown>();
  alarmAt: number | null = null;
  /** The alarm whose handler runs: nobody sees it meanwhile, and it is back if the handler fails. */
  #running: number | undefined;
  /** The writes of this turn. */
  #turn: Write[] = [];
  readonly #isReplay: boolean = false;
  /** Rows of statements that write, which nobody has read to their end. */
  readonly #unread = new Set<Rows>();
  /** Constraints are looked at when the turn ends. */
  #isDeferring = false;

  readonly #onWrite: () => void;

  /** @param onWrite called at the first write of each turn. */
  constructor(className: string, disk: Disk, onWrite: () => void) {
    this.#onWrite = onWrite;
    this.#lent = Database.of(className);
    this.#isReplay = true;
    for (const write of disk.writes) write(this);
    this.#isReplay = false;
  }

  /** Takes what was written in the turn that ends. */
  takeTurn(): Turn {
    const writes = this.#turn;
    this.#turn = [];
    // Until its handler has ended, the disk has the alarm.
    return { writes, alarmAt: this.#running ?? this.alarmAt };
  }

  /** True when the turn that ends cannot be written: it is lost, and the life with it. */
  get isBroken(): boolean {
    return this.#unread.size > 0 || (this.#isDeferring && this.#database.violations > 0);
  }

  get hasWritten(): boolean {
    return this.#turn.length > 0;
  }

  write(work: Write): void {
    work(this);
    if (!this.#isReplay && this.#turn.push(work) === 1) this.#onWrite();
  }

  exec(query: string, bindings: readonly SQLInputValue[]): Rows {
    if (query === DEFERRING) {
      this.#isDeferring = true;
      this.#database.defer();
      return new Rows([], 0);
    }
    const { isReading, isScript } = read(query);
    if (isScript && bindings.length === 0) {
      this.write((into) => into.#database.runScript(query));
      return new Rows([], 1);
    }
    if (isReading) return new Rows(this.#database.run(query, bindings), 0);
    let all: Row[] = [];
    this.write((into) => {
      all = into.#database.run(query, bindings);
    });
    const rows: Rows = new Rows(all, 1, () => this.#unread.delete(rows));
    if (all.length > 0) this.#unread.add(rows);
    return rows;
  }

  /** Runs the work, and undoes what it wrote if it throws. */
  transaction<T>(work: () => T): T {
    const before = this.#turn.length;
    const kv = [...this.kv];
    try {
      return this.#database.transaction(work);
    } catch (error) {
      this.#turn.length = before;
      this.kv.clear();
      for (const [key, value] of kv) this.kv.set(key, value);
      throw error;
    }
  }

  deleteAll(): void {
    this.#running = undefined;
    this.write((into) => into.#empty());
  }

  /** @param at `null` deletes it. */
  setAlarm(at: number | null): void {
    this.#running = undefined;
    this.write((into) => (into.alarmAt = at));
  }

  /** @returns `false` when the alarm is not the one that fires. */
  beginAlarm(at: number): boolean {
    if (this.alarmAt !== at) return false;
    this.#running = at;
    this.alarmAt = null;
    return true;
  }

  /** The handler has ended well. */
  endAlarm(): void {
    if (this.#running !== undefined) this.setAlarm(null);
  }

  /** @returns whether the handler is to be tried again: not if it has set or deleted the alarm. */
  failAlarm(mayRetry: boolean): boolean {
    const at = this.#running;
    if (at === undefined) return false;
    this.#running = undefined;
    if (mayRetry) this.alarmAt = at;
    else this.setAlarm(null);
    return mayRetry;
  }

  close(): void {
    this.#lent?.close();
    this.#lent = undefined;
  }

  get #database(): Database {
    if (this.#lent === undefined) throw new Error("database is not open");
    return this.#lent;
  }

  #empty(): void {
    this.kv.clear();
    this.alarmAt = null;
    this.#database.empty();
  }
}

/** The rows of a statement, as they are read. */
export class Rows implements Iterable<Row> {
  readonly #rows: readonly Row[];
  readonly rowsWritten: number;
  readonly #onLast: () => void;

  /** @param onLast called when the last one is read. */
  constructor(rows: readonly Row[], written: number, onLast: () => void = () => undefined) {
    this.#rows = rows;
    this.rowsWritten = written;
    this.#onLast = onLast;
  }

  get rowsRead(): number {
    return this.#rows.length;
  }

  *[Symbol.iterator](): Generator<Row, void> {
    for (const [index, row] of this.#rows.entries()) {
      if (index === this.#rows.length - 1) this.#onLast();
      yield row;
    }
  }

  toArray(): Row[] {
    return [...this];
  }

  one(): Row {
    const [row, more] = this.toArray();
    if (row === undefined || more !== undefined)
      throw new Error("Expected exactly one result from SQL query");
    return row;
  }
}
