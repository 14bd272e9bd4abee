/**
 * The last attempts to connect, step by step. Most requests do not name their attempt, so steps are
 * joined by what is known of each: the attempt's record, the grant, or otherwise the application,
 * whose newest attempt is taken. A step without any of these is joined to none, and counted when it
 * is repeated.
 */

import { clientOf, isAlone } from "../trace/trace-key.ts";
import type { LoginStep, LoginTrace, NotedStep, StepKind, TracedStep } from "../trace/trace.ts";
import { Records } from "../../lib/records.ts";

type TraceRow = { id: number; key: string; started: number; updated: number };
type StepRow = {
  [K in keyof TracedStep]: TracedStep[K] extends number ? number : string;
};

const MAX_STEPS = 50;
/** Traces of applications, and as many again of addresses: scanners displace no attempt. */
const MAX_TRACES = 200;
const KEPT_MS = 7 * 86_400_000;
/** An attempt without a step for this long is over. */
const WINDOW_MS = 30 * 60_000;

/** Frequent steps whose reference no person sees: they are counted at their first occurrence. */
const COUNTED: ReadonlySet<StepKind> = new Set([
  "probed",
  "challenged",
  "bearer_refused",
  "token_issued",
  "token_refused",
  "used",
]);

const OPENING: ReadonlySet<StepKind> = new Set(["registered", "asked", "ask_refused"]);

export class LoginTraces extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS traces_1 (
      id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, client INTEGER NOT NULL,
      started INTEGER NOT NULL, updated INTEGER NOT NULL, asked INTEGER NOT NULL
    )`,
    "CREATE INDEX IF NOT EXISTS traces_1_key ON traces_1 (key, updated)",
    "CREATE INDEX IF NOT EXISTS traces_1_updated ON traces_1 (client, updated)",
    `CREATE TABLE IF NOT EXISTS trace_steps_1 (
      n INTEGER PRIMARY KEY AUTOINCREMENT, reference TEXT NOT NULL UNIQUE,
      trace INTEGER NOT NULL, at INTEGER NOT NULL, last INTEGER NOT NULL, times INTEGER NOT NULL,
      address TEXT NOT NULL, agent TEXT NOT NULL, step TEXT NOT NULL
    )`,
    "CREATE INDEX IF NOT EXISTS trace_steps_1_trace ON trace_steps_1 (trace, at)",
    `CREATE TABLE IF NOT EXISTS trace_marks_1 (
      mark TEXT PRIMARY KEY, trace INTEGER NOT NULL
    ) WITHOUT ROWID`,
    "CREATE INDEX IF NOT EXISTS trace_marks_1_trace ON trace_marks_1 (trace)",
  ];

  note(noted: NotedStep): void {
    const { step, key, at } = noted;
    const marks = marksOf(step, key);
    const found = isAlone(key) ? this.#sameAs(noted) : this.#traceFor(step, key, marks, at);
    if (step.kind === "used" && !this.#isUnderWay(found, at)) return;
    const trace = found ?? this.#open(key, at);
    if (!(COUNTED.has(step.kind) && this.#countAgain(trace, noted))) this.#add(trace, noted);
    const update =
      "UPDATE traces_1 SET updated = MAX(updated, ?), asked = MAX(asked, ?) WHERE id = ?";
    this.run(update, [at, step.kind === "asked" || step.kind === "ask_refused" ? 1 : 0, trace]);
    for (const mark of marks) {
      const query = "INSERT OR REPLACE INTO trace_marks_1 (mark, trace) VALUES (?, ?)";
      this.run(query, [mark, trace]);
    }
  }

  /** The newest traces of applications, and as many of addresses. */
  list(limit: number): readonly LoginTrace[] {
    const query = `SELECT * FROM traces_1 WHERE client = ? AND updated > ?
      ORDER BY updated DESC LIMIT ?`;
    const rows = [1, 0].flatMap((client) =>
      this.rows<TraceRow>(query, [client, this.now() - KEPT_MS, limit]),
    );
    return rows.map((row) => this.#traceOf(row));
  }

  /** @param reference the reference of any of its steps. */
  find(reference: string): LoginTrace | undefined {
    const query = `SELECT * FROM traces_1 WHERE updated > ? AND id =
      (SELECT trace FROM trace_steps_1 WHERE reference = ?)`;
    const row = this.row<TraceRow>(query, [this.now() - KEPT_MS, reference]);
    return row === undefined ? undefined : this.#traceOf(row);
  }

  /** The steps of a key that happened between two times. */
  during(key: string, from: number, to: number): readonly TracedStep[] {
    const query = "SELECT * FROM traces_1 WHERE key = ? AND updated >= ? AND started <= ?";
    const rows = this.rows<TraceRow>(query, [key, from, to]);
    const steps = rows.flatMap((row) => this.#traceOf(row).steps);
    return steps.filter(({ at, lastAt }) => lastAt >= from && at <= to);
  }

  /** Deletes traces that are too old. */
  sweep(): void {
    this.#forget("SELECT id FROM traces_1 WHERE updated <= ?", this.now() - KEPT_MS);
  }

  /** @returns the trace of an earlier step that is identical to this one. */
  #sameAs({ step, key, at, agent }: NotedStep): number | undefined {
    if (!COUNTED.has(step.kind)) return undefined;
    const row = this.row<{ id: number }>(
      `SELECT traces_1.id FROM traces_1 JOIN trace_steps_1 ON trace_steps_1.trace = traces_1.id
       WHERE key = ? AND updated > ? AND step = ? AND agent = ? ORDER BY updated DESC LIMIT 1`,
      [key, at - WINDOW_MS, JSON.stringify(step), agent],
    );
    return row?.id;
  }

  #traceFor(
    step: LoginStep,
    key: string,
    marks: readonly string[],
    at: number,
  ): number | undefined {
    for (const mark of marks) {
      const marked = "SELECT trace AS id FROM trace_marks_1 WHERE mark = ?";
      const row = this.row<{ id: number }>(marked, [mark]);
      if (row !== undefined && !this.#isFull(row.id)) return row.id;
    }
    // A registration or a request begins an attempt, unless the newest one has only just begun.
    const isOpening = OPENING.has(step.kind) && marks.length === 0;
    const row = this.row<{ id: number }>(
      `SELECT id FROM traces_1 WHERE key = ? AND updated > ? AND asked <= ?
       ORDER BY updated DESC, id DESC LIMIT 1`,
      [key, at - WINDOW_MS, isOpening ? 0 : 1],
    );
    return row === undefined || this.#isFull(row.id) ? undefined : row.id;
  }

  /** The use of a token is recorded at the end of an attempt, and not from then on. */
  #isUnderWay(trace: number | undefined, at: number): boolean {
    const query = "SELECT id FROM traces_1 WHERE id = ? AND updated > ?";
    return this.count(query, [trace ?? 0, at - WINDOW_MS]) > 0;
  }

  #isFull(trace: number): boolean {
    const query = "SELECT COUNT(*) AS steps FROM trace_steps_1 WHERE trace = ?";
    const row = this.row<{ steps: number }>(query, [trace]);
    return (row?.steps ?? 0) >= MAX_STEPS;
  }

  #open(key: string, at: number): number {
    const client = clientOf(key) === undefined ? 0 : 1;
    const row = this.row<{ id: number }>(
      `INSERT INTO traces_1 (key, client, started, updated, asked) VALUES (?, ?, ?, ?, 0)
       RETURNING id`,
      [key, client, at, at],
    );
    const tooMany = `SELECT id FROM traces_1 WHERE client = ?
      ORDER BY updated DESC, id DESC LIMIT -1 OFFSET ?`;
    this.#forget(tooMany, client, MAX_TRACES);
    return row?.id ?? 0;
  }

  #add(trace: number, { reference, at, address, agent, step }: NotedStep): void {
    this.run(
      `INSERT OR IGNORE INTO trace_steps_1
         (reference, trace, at, last, times, address, agent, step)
       VALUES (?, ?, ?, ?, 1, ?, ?, ?)`,
      [reference, trace, at, at, address, agent, JSON.stringify(step)],
    );
  }

  #countAgain(trace: number, { at, address, step }: NotedStep): boolean {
    return (
      this.count(
        `UPDATE trace_steps_1 SET last = ?, times = times + 1
       WHERE trace = ? AND step = ? AND address = ? RETURNING reference`,
        [at, trace, JSON.stringify(step), address],
      ) > 0
    );
  }

  #forget(which: string, ...bindings: readonly number[]): void {
    for (const { id } of this.rows<{ id: number }>(which, bindings)) {
      this.run("DELETE FROM trace_steps_1 WHERE trace = ?", [id]);
      this.run("DELETE FROM trace_marks_1 WHERE trace = ?", [id]);
      this.run("DELETE FROM traces_1 WHERE id = ?", [id]);
    }
  }

  #traceOf({ id, key, started, updated }: TraceRow): LoginTrace {
    const query = `SELECT reference, at, last AS lastAt, times, address, agent, step
      FROM trace_steps_1 WHERE trace = ? ORDER BY at, n`;
    const steps = this.rows<StepRow>(query, [id]).map(stepOf);
    const reference = steps[0]?.reference ?? "";
    return { reference, key, startedAt: started, updatedAt: updated, steps };
  }
}

function marksOf(step: LoginStep, key: string): readonly string[] {
  const { attempt, grant } = { attempt: undefined, grant: undefined, ...step };
  return [
    ...(attempt === undefined ? [] : [`attempt ${attempt} ${key}`]),
    ...(grant === undefined ? [] : [`grant ${grant} ${key}`]),
  ];
}

function stepOf({ step, ...row }: StepRow): TracedStep {
  return { ...row, step: JSON.parse(step) as LoginStep };
}
