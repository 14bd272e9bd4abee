/** Who has signed in: one record a user, written at sign-in and when an administrator acts. */

import type { Sql } from "../../lib/sql.ts";
import { tryJson } from "../../lib/try-json.ts";

export interface User {
  readonly id: string;
  /** The name of the provider in the configuration; `issuer` and `subject` are who it says. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  readonly isAdmin: boolean;
  /** Nothing of a disabled user is served any more. */
  readonly isDisabled: boolean;
  /** Milliseconds since 1970, as `seenAt` is. */
  readonly createdAt: number;
  readonly seenAt: number;
  /** What the provider is asked with whether it still stands by the sign-in; sealed. */
  readonly upkeep?: string;
}

export type SignedInUser = Omit<User, "isDisabled" | "createdAt" | "seenAt">;

export class Users {
  readonly #sql: Sql;
  readonly #now: () => number;

  constructor(sql: Sql, now: () => number = () => Date.now()) {
    this.#sql = sql;
    this.#now = now;
    sql.exec("CREATE TABLE IF NOT EXISTS users_1 (id TEXT PRIMARY KEY, record TEXT NOT NULL)");
  }

  find(id: string): User | undefined {
    const [row] = this.#sql.exec<{ record: string }>("SELECT record FROM users_1 WHERE id = ?", id);
    return row === undefined ? undefined : (tryJson(row.record) as User);
  }

  /** Takes in who has just signed in. What an administrator decided stays. */
  signedIn(user: SignedInUser): User {
    const known = this.find(user.id);
    const now = this.#now();
    return this.#save({
      ...user,
      isDisabled: known?.isDisabled ?? false,
      createdAt: known?.createdAt ?? now,
      seenAt: now,
    });
  }

  /** @returns the user as changed, or `undefined` when there is none of that id. */
  change(id: string, change: Partial<Omit<User, "id">>): User | undefined {
    const known = this.find(id);
    return known === undefined ? undefined : this.#save({ ...known, ...change });
  }

  /** Of this object, and in no order. */
  all(): readonly User[] {
    const rows = this.#sql.exec<{ record: string }>("SELECT record FROM users_1");
    return [...rows].map(({ record }) => tryJson(record) as User);
  }

  #save(user: User): User {
    this.#sql.exec(
      `INSERT INTO users_1 (id, record) VALUES (?, ?)
       ON CONFLICT (id) DO UPDATE SET record = excluded.record`,
      ...[user.id, JSON.stringify(user)],
    );
    return user;
  }
}
