/** What an authorization server has registered the gateway as, for each redirect URI, and what failed. */

import { Records } from "../../lib/records.ts";
import type { RegistrationOutcome } from "../client/register.ts";

type Failure = Extract<RegistrationOutcome, { kind: "failed" }>["trouble"];

/** Addresses that register too often are often refused for longer. */
const FAILED_MS = 600_000;

export class RegistrationRows extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS clients_1 (
      redirect_uri TEXT PRIMARY KEY, client_id TEXT, sealed TEXT, trouble TEXT, failed_at INTEGER
    ) WITHOUT ROWID`,
  ];

  /** @returns the sealed client. */
  find(redirectUri: string): string | undefined {
    const row = this.row<{ sealed: string | null }>(
      "SELECT sealed FROM clients_1 WHERE redirect_uri = ?",
      [redirectUri],
    );
    return row?.sealed ?? undefined;
  }

  /** @returns why the last registration failed, as long as it is not to be repeated. */
  failure(redirectUri: string): Failure | undefined {
    const row = this.row<{ trouble: Failure }>(
      "SELECT trouble FROM clients_1 WHERE redirect_uri = ? AND failed_at > ?",
      [redirectUri, this.now() - FAILED_MS],
    );
    return row?.trouble;
  }

  put(redirectUri: string, clientId: string, sealed: string): void {
    this.run(
      "INSERT OR REPLACE INTO clients_1 (redirect_uri, client_id, sealed) VALUES (?, ?, ?)",
      [redirectUri, clientId, sealed],
    );
  }

  redirectUris(): readonly string[] {
    const rows = this.rows<{ redirect_uri: string }>("SELECT redirect_uri FROM clients_1");
    return rows.map(({ redirect_uri: redirectUri }) => redirectUri);
  }

  sealAnew(redirectUri: string, sealed: string): void {
    this.run("UPDATE clients_1 SET sealed = ? WHERE redirect_uri = ?", [sealed, redirectUri]);
  }

  /** A registration that there was stays: accounts may be bound to it. */
  fail(redirectUri: string, trouble: Failure): void {
    this.run(
      `INSERT INTO clients_1 (redirect_uri, trouble, failed_at) VALUES (?, ?, ?)
       ON CONFLICT (redirect_uri) DO UPDATE SET trouble = excluded.trouble, failed_at = excluded.failed_at`,
      [redirectUri, trouble, this.now()],
    );
  }

  /** Deletes this registration, and not a newer one. */
  forget(redirectUri: string, clientId: string): void {
    this.run("DELETE FROM clients_1 WHERE redirect_uri = ? AND client_id = ?", [
      redirectUri,
      clientId,
    ]);
  }
}
