/**
 * The last calls of a shard, in rows of up to `LINES_PER_ROW` lines: the platform bills rows, so a batch of
 * calls is one. The oldest give way, once they are counted (`Usage`).
 */

import { Records } from "../lib/records.ts";
import type { Sql } from "../lib/sql.ts";
import { type KeptCall, type ListedCall, LINE_FORMAT, readCall } from "./call.ts";

/** So many calls are listed of each shard, and none that is older. */
export const MAX_CALLS = 2000;
export const KEPT_MS = 7 * 86_400_000;
/** A row that was begun takes more lines up to here. */
const LINES_PER_ROW = 50;

type Row = { n: number; format: number; lines: string };
interface Newest {
  readonly n: number;
  readonly count: number;
}

/** A row that takes no more lines, as it is gone or of another version: rows before it may be there still. */
function complete(n: number): Newest {
  return { n, count: LINES_PER_ROW };
}

export class RecentCalls extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS calls_1 (
      n INTEGER PRIMARY KEY, format INTEGER NOT NULL, count INTEGER NOT NULL,
      latest INTEGER NOT NULL, lines TEXT NOT NULL
    )`,
    // The calls of all rows up to this one are counted.
    "CREATE TABLE IF NOT EXISTS counted_1 (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)",
  ];
  #size: number;
  #counted: number;
  #newest: Newest | undefined;

  constructor(sql: Sql, now?: () => number) {
    super(sql, now);
    this.#size =
      this.row<{ size: number }>("SELECT COALESCE(SUM(count), 0) AS size FROM calls_1")?.size ?? 0;
    this.#counted = this.row<{ n: number }>("SELECT n FROM counted_1")?.n ?? 0;
    const newest = this.row<{ n: number; count: number; format: number }>(
      "SELECT n, count, format FROM calls_1 ORDER BY n DESC LIMIT 1",
    );
    // Nothing is added to a row of another version.
    this.#newest =
      newest === undefined || newest.format === LINE_FORMAT ? newest : complete(newest.n);
  }

  /** True when the oldest calls have to give way. */
  get isOverfull(): boolean {
    return this.#size > MAX_CALLS;
  }

  get hasUncounted(): boolean {
    return this.#newest !== undefined && this.#newest.n > this.#counted;
  }

  /**
   * @param latest when the last of them ended.
   * @returns the row they are in, and the number of lines before them.
   */
  append(lines: readonly string[], latest: number): Newest {
    const count = lines.length;
    const text = lines.join("\n");
    this.#size += count;
    const newest = this.#newest;
    // A row that was counted is complete.
    if (newest !== undefined && newest.n > this.#counted && newest.count + count <= LINES_PER_ROW) {
      this.run(
        `UPDATE calls_1 SET count = count + ?2, latest = MAX(latest, ?3),
         lines = lines || char(10) || ?4 WHERE n = ?1`,
        [newest.n, count, latest, text],
      );
      this.#newest = { n: newest.n, count: newest.count + count };
      return newest;
    }
    const n = Math.max(newest?.n ?? 0, this.#counted) + 1;
    this.run("INSERT INTO calls_1 (n, format, count, latest, lines) VALUES (?, ?, ?, ?, ?)", [
      ...[n, LINE_FORMAT, count, latest],
      text,
    ]);
    this.#newest = { n, count };
    return { n, count: 0 };
  }

  /** All that are young enough, in no order. */
  all(): readonly ListedCall[] {
    const oldest = this.now() - KEPT_MS;
    return this.#read("SELECT n, format, lines FROM calls_1 WHERE latest > ?", oldest).filter(
      ({ at }) => at > oldest,
    );
  }

  /** @returns the calls that were not counted before: they count as counted from now on. */
  takeUncounted(): readonly KeptCall[] {
    if (!this.hasUncounted) return [];
    const calls = this.#read("SELECT n, format, lines FROM calls_1 WHERE n > ?", this.#counted);
    this.#counted = this.#newest?.n ?? this.#counted;
    this.run(
      `INSERT INTO counted_1 (id, n) VALUES (1, ?)
       ON CONFLICT (id) DO UPDATE SET n = excluded.n`,
      [this.#counted],
    );
    return calls;
  }

  /** Deletes the oldest beyond the bound, and those that are too old. */
  cut(): void {
    const oldest = this.now() - KEPT_MS;
    const rows = this.rows<{ n: number; count: number; latest: number }>(
      "SELECT n, count, latest FROM calls_1 ORDER BY n",
    );
    for (const { n, count, latest } of rows) {
      if (this.#size <= MAX_CALLS && latest > oldest) continue;
      this.run("DELETE FROM calls_1 WHERE n = ?", [n]);
      this.#size -= count;
      if (n === this.#newest?.n) this.#newest = complete(n);
    }
  }

  /** Deletes the calls of one person. Those that were not counted are not counted any more. */
  forget(person: string): void {
    // They may be in a row that only another version can read.
    this.run("DELETE FROM calls_1 WHERE format <> ?", [LINE_FORMAT]);
    for (const { n, lines } of this.rows<Row>("SELECT n, format, lines FROM calls_1")) {
      const all = lines.split("\n");
      const left = all.filter((line) => readCall(line)?.person !== person);
      if (left.length === all.length) continue;
      this.#size -= all.length - left.length;
      const isNewest = n === this.#newest?.n;
      if (left.length === 0) {
        this.run("DELETE FROM calls_1 WHERE n = ?", [n]);
        if (isNewest) this.#newest = complete(n);
        continue;
      }
      this.run("UPDATE calls_1 SET count = ?2, lines = ?3 WHERE n = ?1", [
        ...[n, left.length],
        left.join("\n"),
      ]);
      if (isNewest) this.#newest = { n, count: left.length };
    }
  }

  /** @returns when the oldest row is too old; `undefined` when there is none. */
  expiresAt(): number | undefined {
    const row = this.row<{ latest: number | null }>("SELECT MIN(latest) AS latest FROM calls_1");
    return typeof row?.latest === "number" ? row.latest + KEPT_MS : undefined;
  }

  #read(query: string, binding: number): readonly ListedCall[] {
    return this.rows<Row>(query, [binding]).flatMap(({ n, format, lines }) => {
      // A later version may have written a row before it was rolled back.
      if (format !== LINE_FORMAT) return [];
      return lines.split("\n").flatMap((line, index) => {
        const call = readCall(line);
        return call === undefined ? [] : [{ ...call, id: `${n}.${index}` }];
      });
    });
  }
}
