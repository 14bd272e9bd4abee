/**
 * The stored catalogs of one server: a row for each kind of client with facts about its catalog,
 * and rows with the catalog itself. The tables are created with the first row. Their names end in
 * the number of their layout: a later layout is another table.
 *
 * A catalog is stored in parts, and each list is a text with one line for each item, cut into rows.
 * Neither direction holds a whole catalog as one text: it may have tens of megabytes.
 */

import { cutIntoRows } from "../../lib/cut-into-rows.ts";
import type { Sql } from "../../lib/sql.ts";
import type { FoundServer } from "../../observability/health.ts";
import type { Era, Revision } from "../../protocol/revisions.ts";
import { type ClientKind, clientKey } from "../../endpoint/client-kind.ts";
import {
  type About,
  type Catalog,
  type Item,
  LIST_KINDS,
  type ListFault,
  type ListKind,
} from "../catalog.ts";
import { LIST_TOPICS } from "../feeds.ts";
import type { ListTopic } from "../topics.ts";
import type { Outage } from "./catalog-entry.ts";

/** The parts are stored separately: a change of one leaves the rows of the others as they are. */
const PARTS = ["about", ...LIST_KINDS] as const satisfies readonly ("about" | ListKind)[];
export type Part = (typeof PARTS)[number];

/** Facts about a catalog that are known without loading it. */
export interface Facts {
  readonly version: string;
  /** As the server states it. */
  readonly ttlMs?: number;
  readonly counts: Readonly<Record<ListKind, number>>;
  /** The first of the lists that the server did not return. */
  readonly fault?: ListFault;
  /** The topics of the lists that the server has. */
  readonly topics: readonly ListTopic[];
  readonly chars: number;
  /** When this version was first read. Absent, like `found`, from rows that were written before it existed. */
  readonly changedAt?: number;
  readonly found?: FoundServer;
}

export interface StoredCatalog {
  readonly id: number;
  readonly client: ClientKind;
  /** `undefined` when there is no catalog. */
  readonly facts: Facts | undefined;
  /** When the server was last found to have this catalog; milliseconds since 1970. */
  readonly readAt: number;
  /** The topics that have changed since, or may have: all, where somebody was given less than a reading was to bring. */
  readonly outdated: readonly ListTopic[];
  /** Those of `outdated` of which nobody was told, or one client alone, in its own session at the server. */
  readonly unannounced: readonly ListTopic[];
  readonly outage: Outage | undefined;
}

export interface CatalogStorage {
  readonly sql: Sql;
  /** Runs synchronous work as one transaction. */
  readonly transaction: <T>(work: () => T) => T;
}

type Row = {
  id: number;
  client: string;
  facts: string | null;
  read_at: number;
  outdated: string;
  outage: string | null;
};

const KINDS = "catalogs_1";
const ROWS = "catalog_rows_1";
/** The number of row ids reserved for a part of a catalog. */
const PART_ROWS = 2 ** 20;
/** The number of parts that row ids reserve for a catalog. */
const MAX_PARTS = 8;

export class CatalogStore {
  readonly #sql: Sql;
  readonly #transaction: CatalogStorage["transaction"];
  readonly #endpoint: string;
  #exists: boolean;

  /** @param endpoint the server's URL: catalogs read from another URL are deleted. */
  constructor({ sql, transaction }: CatalogStorage, endpoint: string) {
    this.#sql = sql;
    this.#transaction = transaction;
    this.#endpoint = endpoint;
    const query = "SELECT 1 FROM sqlite_master WHERE name = ?";
    this.#exists = [...sql.exec(query, KINDS)].length > 0;
  }

  /** All stored entries, the oldest first. */
  load(): readonly StoredCatalog[] {
    if (!this.#exists) return [];
    const elsewhere = `SELECT id FROM ${KINDS} WHERE endpoint <> ?`;
    for (const { id } of [...this.#sql.exec<{ id: number }>(elsewhere, this.#endpoint)]) {
      this.drop(id);
    }
    const query = `SELECT id, client, facts, read_at, outdated, outage FROM ${KINDS}
      ORDER BY read_at, id`;
    return Array.from(this.#sql.exec<Row>(query), storedFrom);
  }

  /** Writes the facts about a catalog: one row. */
  save({ id, client, facts, readAt, outdated, unannounced, outage }: StoredCatalog): void {
    this.#create();
    this.#sql.exec(
      `INSERT OR REPLACE INTO ${KINDS} (id, endpoint, client, facts, read_at, outdated, outage)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      id,
      this.#endpoint,
      clientKey(client),
      facts === undefined ? null : JSON.stringify(facts),
      readAt,
      JSON.stringify([...outdated, ...unannounced.map((topic) => unannouncedMark(topic))]),
      outage === undefined ? null : JSON.stringify(outage),
    );
  }

  /**
   * Replaces the stored catalog.
   *
   * @returns the parts that changed; only these are written.
   */
  replace(stored: StoredCatalog, catalog: Catalog): readonly Part[] {
    return this.#transaction(() => {
      this.save(stored);
      return PARTS.filter((part) => this.#write(stored.id, part, rowsOf(catalog, part)));
    });
  }

  read({ id, facts }: Pick<StoredCatalog, "id" | "facts">): Catalog | undefined {
    if (facts === undefined || !this.#exists) return undefined;
    return catalogFrom(facts.version, (part) => this.#rows(id, part));
  }

  drop(id: number): void {
    if (!this.#exists) return;
    this.#transaction(() => {
      this.#sql.exec(`DELETE FROM ${KINDS} WHERE id = ?`, id);
      const [from, to] = [rowId(id, PARTS[0], 0), rowId(id + 1, PARTS[0], 0)];
      this.#sql.exec(`DELETE FROM ${ROWS} WHERE id >= ? AND id < ?`, from, to);
    });
  }

  #create(): void {
    if (this.#exists) return;
    this.#sql.exec(`CREATE TABLE ${KINDS} (
      id INTEGER PRIMARY KEY, endpoint TEXT NOT NULL, client TEXT NOT NULL, facts TEXT,
      read_at INTEGER NOT NULL, outdated TEXT NOT NULL, outage TEXT)`);
    this.#sql.exec(`CREATE TABLE ${ROWS} (id INTEGER PRIMARY KEY, data TEXT NOT NULL)`);
    this.#exists = true;
  }

  /** @returns whether anything changed. */
  #write(catalog: number, part: Part, rows: Iterable<string>): boolean {
    let n = 0;
    let isOther = false;
    for (const data of rows) {
      isOther ||= this.#cutWhereOther(catalog, part, n, data);
      if (isOther) {
        const query = `INSERT INTO ${ROWS} (id, data) VALUES (?, ?)`;
        this.#sql.exec(query, rowId(catalog, part, n), data);
      }
      n += 1;
    }
    return isOther || this.#cut(catalog, part, n);
  }

  /** Deletes the rows from this place on unless the row here equals `data`. */
  #cutWhereOther(catalog: number, part: Part, n: number, data: string): boolean {
    const query = `SELECT data = ? AS same FROM ${ROWS} WHERE id = ?`;
    const [row] = this.#sql.exec<{ same: number }>(query, data, rowId(catalog, part, n));
    if (row?.same === 1) return false;
    this.#cut(catalog, part, n);
    return true;
  }

  /** @returns whether there were rows from this place on. */
  #cut(catalog: number, part: Part, n: number): boolean {
    const query = `DELETE FROM ${ROWS} WHERE id BETWEEN ? AND ? RETURNING id`;
    const [from, to] = [rowId(catalog, part, n), rowId(catalog, part, PART_ROWS - 1)];
    return [...this.#sql.exec(query, from, to)].length > 0;
  }

  *#rows(catalog: number, part: Part): Generator<string, void, void> {
    const query = `SELECT data FROM ${ROWS} WHERE id BETWEEN ? AND ? ORDER BY id`;
    const [from, to] = [rowId(catalog, part, 0), rowId(catalog, part, PART_ROWS - 1)];
    for (const { data } of this.#sql.exec<{ data: string }>(query, from, to)) yield data;
  }
}

function rowId(catalog: number, part: Part, n: number): number {
  return (catalog * MAX_PARTS + PARTS.indexOf(part)) * PART_ROWS + n;
}

/** Beside the topics themselves, so that an earlier version finds these where it expects them. */
function unannouncedMark(topic: ListTopic): string {
  return `${topic} unannounced`;
}

function storedFrom({ id, client, facts, read_at: readAt, outdated, outage }: Row): StoredCatalog {
  const marks = JSON.parse(outdated) as readonly string[];
  const [revision, capabilities] = JSON.parse(client) as [Revision, ClientKind["capabilities"]];
  return {
    id,
    client: { revision, capabilities },
    readAt,
    facts: facts === null ? undefined : (JSON.parse(facts) as Facts),
    outdated: LIST_TOPICS.filter((topic) => marks.includes(topic)),
    unannounced: LIST_TOPICS.filter((topic) => marks.includes(unannouncedMark(topic))),
    outage: outage === null ? undefined : (JSON.parse(outage) as Outage),
  };
}

/** Lines share a row up to this length; a longer line has rows of its own. */
const MAX_ROW_CHARS = 256 * 1024;

type AboutLine = readonly [
  about: About,
  flaws: readonly string[],
  isPublic: boolean,
  era: Era,
  /** Absent from rows that were written before this member existed. */
  faults?: readonly ListFault[],
];
type ItemLine = readonly [name: string, text: string];

/** Yields the same rows for the same part, each of a size that the table accepts. */
function* rowsOf(catalog: Catalog, part: Part): Generator<string, void, void> {
  let row = "";
  for (const line of linesOf(catalog, part)) {
    for (const piece of cutIntoRows(`${line}\n`)) {
      if (row !== "" && row.length + piece.length > MAX_ROW_CHARS) {
        yield row;
        row = "";
      }
      row += piece;
    }
  }
  if (row !== "") yield row;
}

/** JSON text has no line breaks and escapes lone surrogates, so that every store keeps them. */
function* linesOf(catalog: Catalog, part: Part): Generator<string, void, void> {
  if (part === "about") {
    const { about, flaws, isPublic, era, faults } = catalog;
    yield JSON.stringify([about, flaws, isPublic, era, faults] satisfies AboutLine);
    return;
  }
  for (const { name, text } of catalog.lists[part]) {
    yield JSON.stringify([name, text] satisfies ItemLine);
  }
}

/** @param rowsAt the rows of a part, as `rowsOf` made them, in order. */
function catalogFrom(
  version: string,
  rowsAt: (part: Part) => Iterable<string>,
): Catalog | undefined {
  const [aboutLine] = splitLines(rowsAt("about"));
  if (aboutLine === undefined) return undefined;
  const [about, flaws, isPublic, era, faults = []] = JSON.parse(aboutLine) as AboutLine;
  const itemsOf = (list: ListKind): Item[] =>
    Array.from(splitLines(rowsAt(list)), (line) => {
      const [name, text] = JSON.parse(line) as ItemLine;
      return { name, text };
    });
  const lists = Object.fromEntries(LIST_KINDS.map((list) => [list, itemsOf(list)]));
  return { version, era, about, lists: lists as Record<ListKind, Item[]>, flaws, faults, isPublic };
}

function* splitLines(rows: Iterable<string>): Generator<string, void, void> {
  let begun = "";
  for (const row of rows) {
    let start = 0;
    for (let end = row.indexOf("\n"); end !== -1; end = row.indexOf("\n", start)) {
      yield begun + row.slice(start, end);
      begun = "";
      start = end + 1;
    }
    begun += row.slice(start);
  }
}
