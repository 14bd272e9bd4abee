/** An event log on the database of a real object, with a clock that the test sets. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import type { Position } from "../../../../src/sessions/log/event-id.ts";
import { EventLog, type Found } from "../../../../src/sessions/log/event-log.ts";
import type { StreamMeta } from "../../../../src/sessions/log/stream-meta.ts";
import type { LogLimits } from "../../../../src/sessions/log/stream-index.ts";
import type { Sql } from "../../../../src/lib/sql.ts";

export const MINUTE = 60_000;
const LIMITS: LogLimits = {
  keptEventsPerStream: 100,
  keptBytesPerStream: 2_000_000,
  keptBytesPerSession: 10_000_000,
  keptStreamsPerSession: 100,
  retentionMinutes: 60,
};

/** A log in a database of its own, its clock, and what was written. */
export class LogFixture {
  readonly log: EventLog;
  now = 0;
  rowsWritten = 0;
  readonly storage: SqlStorage;
  readonly #limits: LogLimits;
  static #count = 0;

  constructor(storage: SqlStorage, limits: LogLimits, log?: EventLog) {
    this.storage = storage;
    this.#limits = limits;
    this.log = log ?? this.again();
  }

  /** The log as another life of its holder finds it. */
  again(mark = "aaaaaa"): EventLog {
    const sql: Sql = {
      exec: <Row extends Record<string, string | number | null>>(
        query: string,
        ...bindings: (string | number | null)[]
      ) => {
        const cursor = this.storage.exec<Row>(query, ...bindings);
        this.rowsWritten += cursor.rowsWritten;
        return cursor;
      },
    };
    return new EventLog({
      ...{ sql, limits: this.#limits, mark, now: () => this.now },
      random: () => (++LogFixture.#count).toString(16).padStart(6, "0"),
    });
  }

  /** A stream of a POST that is over. */
  finished(...texts: readonly string[]): StreamMeta {
    const meta = this.log.openPost("[1]");
    for (const [n, text] of texts.entries()) {
      this.log.append(meta, text, { isFinal: n === texts.length - 1 });
    }
    return meta;
  }

  written(act: () => void): number {
    const before = this.rowsWritten;
    act();
    return this.rowsWritten - before;
  }
}

export function withLog<T>(
  act: (fixture: LogFixture) => T,
  limits: Partial<LogLimits> = {},
): Promise<T> {
  const object = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  return runInDurableObject(object, (_instance, { storage }) =>
    act(new LogFixture(storage.sql, { ...LIMITS, ...limits })),
  );
}

export const at = ({ id }: StreamMeta, seq = 0): Position => ({ stream: id, seq });
export const kinds = (log: EventLog, ...heads: readonly StreamMeta[]): Found["kind"][] =>
  heads.map((meta) => log.find(at(meta)).kind);
export const texts = (log: EventLog, meta: StreamMeta, after = 0): string[] =>
  log.read(meta, after, Infinity).map(({ data }) => data);
