/**
 * A SQLite database in memory. To make the tables of an object and to prepare its statements takes longer than
 * most of its lives, so lives of one class use a database one after another: what the last one left is emptied,
 * and is not there until the next one makes it.
 */

import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

export type Row = Record<string, unknown>;

/** What the text of a statement says. */
interface Statement {
  readonly isReading: boolean;
  /** Of several statements, only that they have run is known. */
  readonly isScript: boolean;
  /** The table or index that it makes. */
  readonly makes?: { readonly name: string; readonly isTable: boolean };
  /** Every word, of which some may be tables. */
  readonly words: readonly string[];
}

const READING =
  /^\s*(?:--.*\n\s*)*(?:select|pragma\s+table|with\b(?!.*\b(?:insert|update|delete)\b))/is;
const MAKING = /^\s*CREATE\s+(?:UNIQUE\s+)?(TABLE|INDEX)\s+(?:IF NOT EXISTS\s+)?(\w+)/i;
const SCHEMA = "sqlite_master";

const statements = new Map<string, Statement>();

export function read(query: string): Statement {
  let statement = statements.get(query);
  if (statement === undefined) {
    const [, kind, name] = MAKING.exec(query) ?? [];
    statement = {
      isReading: READING.test(query),
      isScript: /;\s*\S/.test(query),
      ...(name === undefined ? {} : { makes: { name, isTable: kind?.toLowerCase() === "table" } }),
      words: [...new Set(query.match(/\w+/g))],
    };
    statements.set(query, statement);
  }
  return statement;
}

/** Databases that nobody uses, by the class of the object that did. */
const unused = new Map<string, Database[]>();

export class Database {
  readonly #className: string;
  readonly #database = new DatabaseSync(":memory:");
  readonly #prepared = new Map<string, StatementSync>();
  /** The statements that made what it has, by the names of tables and indexes. */
  #made = new Map<string, string>();
  /** What it has, and what is not there. */
  #hidden = new Set<string>();
  /** Nobody else can use it. */
  #isSpoilt = false;

  private constructor(className: string) {
    this.#className = className;
  }

  static of(className: string): Database {
    return unused.get(className)?.pop() ?? new Database(className);
  }

  /** Runs one statement. */
  run(query: string, bindings: readonly SQLInputValue[]): Row[] {
    const { makes, words } = read(query);
    if (makes !== undefined) return this.#make(makes.name, query);
    if (query.includes(SCHEMA)) return this.#runOnSchema(query, bindings);
    const hidden =
      this.#hidden.size === 0 ? undefined : words.find((word) => this.#hidden.has(word));
    if (hidden !== undefined) throw new Error(`no such table: ${hidden}`);
    return this.#statement(query).all(...bindings);
  }

  /** Runs several statements. */
  runScript(text: string): void {
    this.#isSpoilt = true;
    this.#database.exec(text);
  }

  /** From now on, constraints that refer to other rows are not looked at. */
  defer(): void {
    this.runScript("PRAGMA foreign_keys = OFF");
  }

  get violations(): number {
    return this.#database.prepare("PRAGMA foreign_key_check").all().length;
  }

  /** Runs the work, and undoes what it did if it throws. */
  transaction<T>(work: () => T): T {
    const made = new Map(this.#made);
    const hidden = new Set(this.#hidden);
    this.#database.exec("SAVEPOINT turn");
    try {
      const result = work();
      this.#database.exec("RELEASE turn");
      return result;
    } catch (error) {
      this.#database.exec("ROLLBACK TO turn; RELEASE turn");
      this.#made = made;
      this.#hidden = hidden;
      throw error;
    }
  }

  /** Nothing is there any more. */
  empty(): void {
    if (this.#isSpoilt) {
      const tables =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
      for (const { name } of this.#database.prepare(tables).all()) this.#drop(name as string);
      return;
    }
    for (const [name, text] of this.#made) {
      if (!this.#hidden.has(name) && read(text).makes?.isTable === true)
        this.#statement(`DELETE FROM ${name}`).run();
      this.#hidden.add(name);
    }
    const isCounting = [...this.#made.values()].some((text) => /AUTOINCREMENT/i.test(text));
    if (isCounting) this.#statement("DELETE FROM sqlite_sequence").run();
  }

  close(): void {
    if (this.#isSpoilt) {
      this.#database.close();
      return;
    }
    this.empty();
    const others = unused.get(this.#className);
    if (others === undefined) unused.set(this.#className, [this]);
    else others.push(this);
  }

  #make(name: string, text: string): Row[] {
    if (this.#hidden.has(name)) {
      if (this.#made.get(name) === text) {
        this.#hidden.delete(name);
        return [];
      }
      this.#drop(name);
    }
    // Rows that refer to others cannot be deleted in every order.
    if (/\bREFERENCES\b/i.test(text)) this.#isSpoilt = true;
    const rows = this.#statement(text).all();
    if (!this.#made.has(name)) this.#made.set(name, text);
    return rows;
  }

  /** Drops a table with its indexes, or an index. */
  #drop(name: string): void {
    const isTable = read(this.#made.get(name) ?? "").makes?.isTable ?? true;
    this.#database.exec(`DROP ${isTable ? "TABLE" : "INDEX"} "${name}"`);
    for (const [each, text] of this.#made) {
      if (each !== name && !text.includes(` ON ${name} `)) continue;
      this.#made.delete(each);
      this.#hidden.delete(each);
    }
  }

  #runOnSchema(query: string, bindings: readonly SQLInputValue[]): Row[] {
    const there = `(SELECT * FROM ${SCHEMA} WHERE name NOT IN (SELECT value FROM json_each(?)))`;
    const hidden = JSON.stringify([...this.#hidden]);
    return this.#statement(query.replace(SCHEMA, there)).all(hidden, ...bindings);
  }

  #statement(query: string): StatementSync {
    let statement = this.#prepared.get(query);
    if (statement === undefined) {
      statement = this.#database.prepare(query);
      this.#prepared.set(query, statement);
    }
    return statement;
  }
}
