/**
 * The storage of an object: what it wrote in one turn is written at once or not at all, and is confirmed
 * later. A crash keeps what was confirmed, and perhaps more of what was written since, in order.
 */

import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

type Row = Record<string, unknown>;
/** One write, which can be done again on another copy. */
type Write = (into: LiveStorage) => void;

/** What is on the disk: every confirmed write since the last `deleteAll`. */
export class Disk {
  readonly writes: Write[] = [];
}

/** The storage as one life of the object sees it. */
export class LiveStorage {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly kv = new Map<string, unknown>();
  alarmAt: number | null = null;
  /** The writes of this turn. */
  #turn: Write[] = [];
  readonly #isReplay: boolean = false;

  constructor(disk: Disk) {
    this.#database = new DatabaseSync(":memory:");
    this.#isReplay = true;
    for (const write of disk.writes) write(this);
    this.#isReplay = false;
  }

  /** Takes the writes of the turn that ends. */
  takeTurn(): readonly Write[] {
    const turn = this.#turn;
    this.#turn = [];
    return turn;
  }

  get hasWritten(): boolean {
    return this.#turn.length > 0;
  }

  write(work: Write): void {
    work(this);
    if (!this.#isReplay) this.#turn.push(work);
  }

  exec(query: string, bindings: readonly SQLInputValue[]): { rows: Row[]; written: number } {
    if (bindings.length === 0 && /;\s*\S/.test(query)) {
      this.write(({ database }) => database.exec(query));
      return { rows: [], written: 1 };
    }
    const statement = this.#statement(query);
    const isReading =
      /^\s*(?:--.*\n\s*)*(?:select|pragma\s+table|with\b(?!.*\b(?:insert|update|delete)\b))/is.test(
        query,
      );
    if (isReading) return { rows: asRows(statement.all(...bindings)), written: 0 };
    let rows: Row[] = [];
    this.write((into) => {
      rows = asRows(into.#statement(query).all(...bindings));
    });
    return { rows, written: 1 };
  }

  /** Runs the work, and undoes what it wrote if it throws. */
  transaction<T>(work: () => T): T {
    const before = this.#turn.length;
    this.#database.exec("SAVEPOINT turn");
    try {
      const result = work();
      this.#database.exec("RELEASE turn");
      return result;
    } catch (error) {
      this.#database.exec("ROLLBACK TO turn; RELEASE turn");
      this.#turn.length = before;
      throw error;
    }
  }

  deleteAll(): void {
    this.write((into) => into.#empty());
  }

  get database(): DatabaseSync {
    return this.#database;
  }

  /** Bytes that the rows and values take, roughly. */
  get size(): number {
    const pages = this.#database.prepare("PRAGMA page_count").get() as { page_count: number };
    return pages.page_count * 4096;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #empty(): void {
    this.kv.clear();
    this.alarmAt = null;
    this.#statements.clear();
    const names = this.#database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all() as { name: string }[];
    for (const { name } of names) this.#database.exec(`DROP TABLE "${name}"`);
  }

  #statement(query: string): StatementSync {
    let statement = this.#statements.get(query);
    if (statement === undefined) {
      statement = this.#database.prepare(query);
      this.#statements.set(query, statement);
    }
    return statement;
  }
}

function asRows(rows: unknown): Row[] {
  return rows as Row[];
}
