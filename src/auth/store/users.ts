/**
 * The people who have signed in: one record per user, written at sign-in and when an administrator
 * acts.
 */

import type { Identity, IdentityProvider, Standing } from "../identity/provider.ts";
import { Records } from "../../lib/records.ts";

/**
 * The provider's latest facts about a person; the rights that follow are judged anew each time
 * (`currentUser`).
 */
export interface User extends Omit<Identity, "isAdmin"> {
  readonly id: string;
  /** The name of the provider in the configuration. */
  readonly provider: string;
  /**
   * The MAC of the owner code of the last sign-in, when that was by the owner code
   * (`SignInResult.codeMac`).
   */
  readonly codeMac?: string;
  /** A disabled user is not served. */
  readonly isDisabled: boolean;
  /** Milliseconds since 1970, as `seenAt` is. */
  readonly createdAt: number;
  readonly seenAt: number;
  /** The data with which the provider is asked whether the sign-in is still valid; sealed. */
  readonly upkeep?: string;
  /** When the provider last confirmed the sign-in; absent: when the person signed in. */
  readonly provenAt?: number;
  /** Since when an answer of the provider is missing; absent when none is. */
  readonly askedAt?: number;
  /** They have begun to connect an account at a server, so that their vault may hold one. */
  readonly hasAccounts?: true;
  /** They publish servers from their own machines. */
  readonly publishes?: true;
}

export type SignedInUser = Omit<User, "isDisabled" | "createdAt" | "seenAt">;

type Change = { readonly [K in keyof Omit<User, "id">]?: User[K] | undefined };

export class Users extends Records {
  static override readonly SCHEMA = [
    "CREATE TABLE IF NOT EXISTS users_1 (id TEXT PRIMARY KEY, record TEXT NOT NULL)",
  ];

  find(id: string): User | undefined {
    const row = this.row<{ record: string }>("SELECT record FROM users_1 WHERE id = ?", [id]);
    return row === undefined ? undefined : (JSON.parse(row.record) as User);
  }

  /** Records a sign-in. An administrator's decisions stay. */
  signedIn(user: SignedInUser): User {
    const known = this.find(user.id);
    const now = this.now();
    return this.#save({
      ...user,
      ...(known?.hasAccounts === true && { hasAccounts: true }),
      ...(known?.publishes === true && { publishes: true }),
      isDisabled: known?.isDisabled ?? false,
      createdAt: known?.createdAt ?? now,
      seenAt: now,
    });
  }

  /**
   * @param change an `undefined` in it removes the member.
   * @returns the changed user, or `undefined` when the id is unknown.
   */
  change(id: string, change: Change): User | undefined {
    const known = this.find(id);
    return known === undefined ? undefined : this.#save({ ...known, ...change });
  }

  /** The users of this object, in no order. */
  all(): readonly User[] {
    const rows = this.rows<{ record: string }>("SELECT record FROM users_1");
    return rows.map(({ record }) => JSON.parse(record) as User);
  }

  #save(user: Pick<User, "id"> & Change): User {
    // JSON has no `undefined`: such a member is left out.
    const record = JSON.stringify(user);
    const insert = `INSERT INTO users_1 (id, record) VALUES (?, ?)
      ON CONFLICT (id) DO UPDATE SET record = excluded.record`;
    this.run(insert, [user.id, record]);
    return JSON.parse(record) as User;
  }
}

/** A user whom the current configuration admits. */
export type CurrentUser = User & Standing;

/**
 * The stored record shows who the person was when they signed in; the current configuration decides
 * each time whether they are admitted, and with which rights. So no user keeps a right that the
 * operator has withdrawn.
 *
 * @param codeMac the MAC in the session, grant or key that is judged (`SignInResult.codeMac`).
 * @returns `undefined` for a user who may not be served. Rejects when that cannot be decided.
 */
export async function currentUser(
  { providers }: { readonly providers: ReadonlyMap<string, IdentityProvider> },
  user: User | undefined,
  codeMac: string | undefined,
): Promise<CurrentUser | undefined> {
  if (user === undefined || user.isDisabled) return undefined;
  const standing = await providers.get(user.provider)?.standing(user, codeMac);
  return standing === undefined ? undefined : { ...user, ...standing };
}
