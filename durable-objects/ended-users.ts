/**
 * Ends what other objects keep of people who were disabled, or whose access was revoked. Another object may
 * be out of reach: so it is written down before that there is something to end, and tried again until it has.
 */

import { Records } from "../src/lib/records.ts";
import type { Sql } from "../src/lib/sql.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";

const RETRY_MS = 60_000;

interface EndedUsersParts {
  /** The name of its rows. */
  readonly table: "ended_accounts_1" | "ended_activity_1";
  /** Ends what another object keeps of a person. */
  readonly end: (user: string) => Promise<unknown>;
  /** Has `retry` called by a time. */
  readonly retryBy: (at: number) => void;
}

export class EndedUsers extends Records {
  readonly #parts: EndedUsersParts;
  /** The newest end of each user that is under way. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(sql: Sql, parts: EndedUsersParts) {
    super(sql);
    this.#parts = parts;
    this.run(`CREATE TABLE IF NOT EXISTS ${parts.table} (user TEXT PRIMARY KEY) WITHOUT ROWID`);
  }

  /** Resolves when it has ended, or is going to be tried again. */
  async end(user: string): Promise<void> {
    this.run(`INSERT OR IGNORE INTO ${this.#parts.table} (user) VALUES (?)`, [user]);
    this.#parts.retryBy(this.now() + RETRY_MS);
    await this.#try(user);
  }

  /** Ends it if that is still to be done: it must not end what begins after it. */
  async finish(user: string): Promise<void> {
    const { table, end } = this.#parts;
    if (this.row(`SELECT 1 FROM ${table} WHERE user = ?`, [user]) === undefined) return;
    const ending = this.#underWay.get(user) ?? end(user);
    this.#underWay.set(user, ending);
    try {
      await ending;
      if (this.#underWay.get(user) === ending) {
        this.run(`DELETE FROM ${table} WHERE user = ?`, [user]);
      }
    } finally {
      if (this.#underWay.get(user) === ending) this.#underWay.delete(user);
    }
  }

  /** Tries all that are left, at once: an object that does not answer holds up nobody else's end. */
  async retry(): Promise<void> {
    const left = this.rows<{ user: string }>(`SELECT user FROM ${this.#parts.table}`);
    if (left.length > 0) this.#parts.retryBy(this.now() + RETRY_MS);
    await Promise.all(left.map(({ user }) => this.#try(user)));
  }

  async #try(user: string): Promise<void> {
    // An end that is under way may have begun before what is to end now, or may never be answered.
    this.#underWay.delete(user);
    try {
      await this.finish(user);
    } catch (error) {
      logUnexpected(error);
    }
  }
}
