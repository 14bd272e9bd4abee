/** The parts of `src/auth` that make up an `AuthShardObject`, on one database. */

import type { Config } from "../src/config/config.ts";
import type { Sql } from "../src/lib/sql.ts";
import { ClientDocuments } from "../src/auth/clients/client-documents.ts";
import { ApiKeys } from "../src/auth/store/api-keys.ts";
import { Approvals } from "../src/auth/store/approvals.ts";
import { Attempts } from "../src/auth/store/attempts.ts";
import { AuditLog } from "../src/auth/store/audit-log.ts";
import { BrowserSessions } from "../src/auth/store/browser-sessions.ts";
import { CodeTries } from "../src/auth/store/code-tries.ts";
import { LoginTraces } from "../src/auth/store/login-traces.ts";
import { KvRows } from "../src/auth/store/kv-rows.ts";
import { RateLimits } from "../src/auth/store/rate-limits.ts";
import { ServiceClients } from "../src/auth/store/service-clients.ts";
import { Users } from "../src/auth/store/users.ts";
import { Grants } from "../src/auth/oauth/grants/grants.ts";
import { egressOf } from "./configured-egress.ts";

export interface AuthParts {
  readonly rows: KvRows;
  readonly users: Users;
  readonly sessions: BrowserSessions;
  readonly approvals: Approvals;
  readonly keys: ApiKeys;
  readonly audit: AuditLog;
  readonly grants: Grants;
  readonly documents: ClientDocuments;
  readonly traces: LoginTraces;
  readonly limits: RateLimits;
  readonly attempts: Attempts;
  readonly codeTries: CodeTries;
  readonly services: ServiceClients;
}

export type PartName = keyof AuthParts | "bearers";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;

/** @param onKeyUsed called once a day with the owner of an API key that is in use. */
export function authParts(sql: Sql, config: Config, onKeyUsed: (owner: string) => void): AuthParts {
  const { limits } = config;
  const rows = new KvRows(sql);
  const audit = new AuditLog(sql);
  const sessions = new BrowserSessions(sql, {
    absoluteMs: limits.browserSessionHours * HOUR_MS,
    idleMs: limits.browserIdleMinutes * MINUTE_MS,
  });
  return {
    rows,
    users: new Users(sql),
    sessions,
    approvals: new Approvals(sql),
    keys: new ApiKeys(sql, {
      hasSession: (user, session) => sessions.has(user, session),
      onUsed({ owner, id, label, usedAt, createdAt }) {
        audit.append(owner, "key_used", { key: id, label });
        // A key is made after a fresh sign-in, so that a use on its first day needs no call.
        if (usedAt !== undefined || Date.now() - createdAt >= DAY_MS) onKeyUsed(owner);
      },
    }),
    audit,
    grants: new Grants(rows, sql),
    documents: new ClientDocuments({ sql, ...egressOf(config) }),
    traces: new LoginTraces(sql),
    limits: new RateLimits(sql),
    attempts: new Attempts(sql),
    codeTries: new CodeTries(sql),
    services: new ServiceClients(sql),
  };
}
