/**
 * The audit log of each user, the last thousand entries: sign-ins, grants, refreshes, revocations,
 * keys, denials. Each entry also goes into the gateway's log. It contains names and addresses, and
 * never a secret.
 */

import {
  type AuditDetail,
  type AuditEvent,
  auditLine,
  cleanDetail,
} from "../../observability/audit.ts";
import { Records } from "../../lib/records.ts";

export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly event: AuditEvent;
  /** Short texts that a person can read: an application, an address, a key's label. */
  readonly detail: AuditDetail;
}

type Row = { at: number; event: AuditEvent; detail: string };

const MAX_ENTRIES = 1000;

export class AuditLog extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS audit_1 (
      user TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, event TEXT NOT NULL,
      detail TEXT NOT NULL, PRIMARY KEY (user, n)
    ) WITHOUT ROWID`,
  ];

  append(user: string, event: AuditEvent, detail: AuditDetail = {}): void {
    auditLine(user, event, detail);
    // Numbered for each user, so that the oldest surplus entry is known without counting.
    const row = this.row<{ n: number }>(
      `INSERT INTO audit_1 (user, n, at, event, detail)
       SELECT ?1, COALESCE(MAX(n), 0) + 1, ?2, ?3, ?4 FROM audit_1 WHERE user = ?1
       RETURNING n`,
      [user, this.now(), event, JSON.stringify(cleanDetail(detail))],
    );
    const oldest = (row?.n ?? 0) - MAX_ENTRIES;
    this.run("DELETE FROM audit_1 WHERE user = ? AND n <= ?", [user, oldest]);
  }

  /** Newest first. */
  list(user: string, limit = MAX_ENTRIES): readonly AuditEntry[] {
    const rows = this.rows<Row>(
      "SELECT at, event, detail FROM audit_1 WHERE user = ? ORDER BY n DESC LIMIT ?",
      [user, Math.min(limit, MAX_ENTRIES)],
    );
    return [...rows].map(({ at, event, detail }) => ({
      at,
      event,
      detail: JSON.parse(detail) as AuditEntry["detail"],
    }));
  }
}
