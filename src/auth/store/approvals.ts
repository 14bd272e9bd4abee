/**
 * The approvals of each user for each application: they let the consent page be skipped, and can be
 * seen and withdrawn. The digest covers the application's description of itself; when that changes,
 * the user is asked again.
 */

import { Records } from "../../lib/records.ts";

export interface Approval {
  readonly client: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly digest: string;
  /** The name on the consent page. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly approvedAt: number;
}

/** Of each user: those of programs on their machine, which spare no question, go before the others. */
const KEPT = 300;

type Row = {
  [K in keyof Approval]: Approval[K] extends number ? number : string;
};

const COLUMNS = "client, redirect AS redirectUri, resource, scopes, digest, name, at AS approvedAt";

export class Approvals extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS approvals_1 (
      user TEXT NOT NULL, client TEXT NOT NULL, redirect TEXT NOT NULL, resource TEXT NOT NULL,
      scopes TEXT NOT NULL, digest TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (user, client, redirect, resource)
    ) WITHOUT ROWID`,
  ];

  find(
    user: string,
    { client, redirectUri, resource }: Pick<Approval, "client" | "redirectUri" | "resource">,
  ): Approval | undefined {
    const row = this.row<Row>(
      `SELECT ${COLUMNS} FROM approvals_1
       WHERE user = ? AND client = ? AND redirect = ? AND resource = ?`,
      [user, client, redirectUri, resource],
    );
    return row === undefined ? undefined : approvalOf(row);
  }

  save(user: string, approval: Approval): void {
    const { client, redirectUri, resource, scopes, digest, name, approvedAt } = approval;
    this.run(
      `INSERT OR REPLACE INTO approvals_1
         (user, client, redirect, resource, scopes, digest, name, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [user, client, redirectUri, resource, scopes.join(" "), digest, name, approvedAt],
    );
    // A program may register anew each time, and nobody forgets what they cannot see.
    this.run(
      `DELETE FROM approvals_1 WHERE user = ? AND (client, redirect, resource) NOT IN (
         SELECT client, redirect, resource FROM approvals_1 WHERE user = ?
         ORDER BY redirect LIKE 'https:%' DESC, at DESC LIMIT ?)`,
      [user, user, KEPT],
    );
  }

  list(user: string): readonly Approval[] {
    const query = `SELECT ${COLUMNS} FROM approvals_1 WHERE user = ? ORDER BY at DESC`;
    return this.rows<Row>(query, [user]).map(approvalOf);
  }

  /** Deletes all approvals of an application by a user. @returns whether there were any. */
  forget(user: string, client: string): boolean {
    const query = "DELETE FROM approvals_1 WHERE user = ? AND client = ? RETURNING client";
    return this.count(query, [user, client]) > 0;
  }

  /** Deletes all approvals of an application, of all users. */
  forgetClient(client: string): void {
    this.run("DELETE FROM approvals_1 WHERE client = ?", [client]);
  }

  forgetAll(user: string): void {
    this.run("DELETE FROM approvals_1 WHERE user = ?", [user]);
  }
}

function approvalOf({ scopes, ...row }: Row): Approval {
  return { ...row, scopes: scopes.split(" ") };
}
