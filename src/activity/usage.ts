/**
 * What was called, by day, server, tool and person: counts, failures, and a histogram of how long it took.
 * Kept for `KEPT_DAYS`. Days are those of UTC.
 */

import { Records } from "../lib/records.ts";
import { EVERY_SERVER } from "../observability/call-record.ts";
import { isFailure, type KeptCall } from "./call.ts";
import { bucketOf, BUCKETS } from "./histogram.ts";

export const KEPT_DAYS = 90;
export const DAY_MS = 86_400_000;
/** What is called beyond so many rows of a day is counted by its server alone: clients choose names. */
const ROWS_PER_DAY = 1000;
export const OTHER = "_other";

/** Of what the counts are. */
export interface UsageKey {
  /** Days since 1970. */
  readonly day: number;
  readonly server: string;
  readonly method: string;
  /** The server's own name of a tool; empty for all else, whose names would be too many. */
  readonly tool: string;
  readonly person: string;
}

export interface Counts {
  readonly calls: number;
  readonly errors: number;
  readonly buckets: readonly number[];
}

export const NO_CALLS: Counts = { calls: 0, errors: 0, buckets: Array<number>(BUCKETS).fill(0) };

export function addCounts(one: Counts, other: Counts): Counts {
  return {
    calls: one.calls + other.calls,
    errors: one.errors + other.errors,
    buckets: one.buckets.map((count, index) => count + (other.buckets[index] ?? 0)),
  };
}

export type UsageRow = UsageKey & Counts;

export interface UsageFilter {
  /** The first day. */
  readonly from: number;
  readonly server?: string;
  readonly tool?: string;
  readonly person?: string;
}

/** The members by which counts are summed up. */
export type UsageGroup = "day" | "server" | "tool" | "person";

export interface UsageSum extends Counts {
  /** Of the members that were asked for; the others are empty. */
  readonly key: UsageKey;
}

const KEYS = ["day", "server", "method", "tool", "person"] as const;
const GROUPS: Readonly<Record<UsageGroup, readonly (typeof KEYS)[number][]>> = {
  day: ["day"],
  server: ["server"],
  tool: ["server", "method", "tool"],
  person: ["person"],
};
const COUNTS = ["calls", "errors", ...Array.from({ length: BUCKETS }, (_, n) => `b${n}`)];
/** The largest of a shard: more than any page shows. */
const MAX_SUMS = 2000;

type SqlRow = Record<string, string | number>;

export class Usage extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS usage_1 (
      day INTEGER NOT NULL, server TEXT NOT NULL, method TEXT NOT NULL, tool TEXT NOT NULL,
      person TEXT NOT NULL, latest INTEGER NOT NULL,
      ${COUNTS.map((name) => `${name} INTEGER NOT NULL`).join(", ")},
      PRIMARY KEY (day, server, method, tool, person)
    ) WITHOUT ROWID`,
  ];

  add(calls: readonly KeptCall[]): void {
    const byDay = Map.groupBy(calls, ({ at }) => Math.floor(at / DAY_MS));
    for (const [day, ofDay] of byDay) this.#countDay(day, ofDay);
  }

  #countDay(day: number, calls: readonly KeptCall[]): void {
    let rows =
      this.row<{ n: number }>("SELECT COUNT(*) AS n FROM usage_1 WHERE day = ?", [day])?.n ?? 0;
    const byKey = Map.groupBy(calls, (call) => JSON.stringify(keyOf(call)));
    for (const [text, ofKey] of byKey) {
      const key = JSON.parse(text) as readonly string[];
      const isNew = !this.#has(day, key);
      const hasRoom = rows < ROWS_PER_DAY;
      this.#add(day, isNew && !hasRoom ? [key[0] ?? "", "", OTHER, ""] : key, ofKey);
      if (isNew && hasRoom) rows += 1;
    }
  }

  #has(day: number, key: readonly string[]): boolean {
    const query =
      "SELECT 1 FROM usage_1 WHERE day = ? AND server = ? AND method = ? AND tool = ? AND person = ?";
    return this.row(query, [day, ...key]) !== undefined;
  }

  #add(day: number, key: readonly string[], calls: readonly KeptCall[]): void {
    const buckets = Array<number>(BUCKETS).fill(0);
    for (const { ms } of calls) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1;
    const latest = Math.max(...calls.map(({ at }) => at));
    const values = [calls.length, calls.filter(isFailure).length, ...buckets];
    const names = [...KEYS, "latest", ...COUNTS];
    this.run(
      `INSERT INTO usage_1 (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
       ON CONFLICT (${KEYS.join(", ")}) DO UPDATE SET latest = MAX(latest, excluded.latest),
       ${COUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
      [day, ...key, latest, ...values],
    );
  }

  /** @returns the largest sums, by calls. */
  sums(group: UsageGroup, filter: UsageFilter): readonly UsageSum[] {
    const by = GROUPS[group].join(", ");
    const { where, bindings } = conditionOf(filter);
    const sums = COUNTS.map((name) => `SUM(${name}) AS ${name}`).join(", ");
    const rows = this.rows<SqlRow>(
      `SELECT ${by}, ${sums} FROM usage_1 WHERE ${where}
       GROUP BY ${by} ORDER BY calls DESC LIMIT ${MAX_SUMS}`,
      bindings,
    );
    return rows.map((row) => ({ key: readKey(row), ...readCounts(row) }));
  }

  /** Row by row, in the order of the keys. @param after the last key of the rows before. */
  list(filter: UsageFilter, after: UsageKey | undefined, limit: number): readonly UsageRow[] {
    const { where, bindings } = conditionOf(filter);
    const keys = KEYS.join(", ");
    const isAfter = after === undefined ? "" : `AND (${keys}) > (?, ?, ?, ?, ?)`;
    const rows = this.rows<SqlRow>(
      `SELECT * FROM usage_1 WHERE ${where} ${isAfter} ORDER BY ${keys} LIMIT ?`,
      [...bindings, ...(after === undefined ? [] : KEYS.map((key) => after[key])), limit],
    );
    return rows.map((row) => ({ ...readKey(row), ...readCounts(row) }));
  }

  /** @returns when each server was called last, in milliseconds since 1970. */
  lastCalled(): Readonly<Record<string, number>> {
    const rows = this.rows<{ server: string; latest: number }>(
      "SELECT server, MAX(latest) AS latest FROM usage_1 WHERE server <> ? GROUP BY server",
      [EVERY_SERVER],
    );
    return Object.fromEntries(rows.map(({ server, latest }) => [server, latest]));
  }

  forget(person: string): void {
    this.run("DELETE FROM usage_1 WHERE person = ?", [person]);
  }

  sweep(): void {
    this.run("DELETE FROM usage_1 WHERE day <= ?", [this.#today - KEPT_DAYS]);
  }

  /** @returns when the oldest day goes; `undefined` when there is none. */
  expiresAt(): number | undefined {
    const row = this.row<{ day: number | null }>("SELECT MIN(day) AS day FROM usage_1");
    return typeof row?.day === "number" ? (row.day + KEPT_DAYS) * DAY_MS : undefined;
  }

  get #today(): number {
    return Math.floor(this.now() / DAY_MS);
  }
}

function keyOf({ server, method, name, person }: KeptCall): readonly string[] {
  // A name that no server has is the client's own.
  const isTool = method === "tools/call" && server !== EVERY_SERVER;
  return [server, method, isTool ? name : "", person];
}

function conditionOf({ from, server, tool, person }: UsageFilter): {
  readonly where: string;
  readonly bindings: readonly (string | number)[];
} {
  const asked = Object.entries({ server, tool, person }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    where: ["day >= ?", ...asked.map(([name]) => `${name} = ?`)].join(" AND "),
    bindings: [from, ...asked.map(([, value]) => value)],
  };
}

function readKey({ day, server, method, tool, person }: SqlRow): UsageKey {
  return {
    day: Number(day ?? 0),
    server: String(server ?? ""),
    method: String(method ?? ""),
    tool: String(tool ?? ""),
    person: String(person ?? ""),
  };
}

function readCounts(row: SqlRow): Counts {
  const [calls = 0, errors = 0, ...buckets] = COUNTS.map((name) => Number(row[name] ?? 0));
  return { calls, errors, buckets };
}
