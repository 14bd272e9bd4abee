/** What pages show of an account, and of what keeps one from being connected. No secret is in it. */

import type { Account } from "../account.ts";
import type { AccountLife } from "../account-state.ts";
import { missingScopes } from "../scopes.ts";
import type { AccountState, AccountSummary, ConnectProblem } from "../vault.ts";

const STATES: Readonly<Record<AccountLife, AccountState>> = {
  connected: "connected",
  renewing: "connected",
  uncertain: "uncertain",
  "trying again": "uncertain",
  failing: "failing",
  misconfigured: "failing",
  refused: "needs-connect",
  moved: "moved",
  ended: "needs-connect",
};

export function summaryOf(account: Account): AccountSummary {
  const { slug, id, kind, life, wanted, requested, granted, connectedAt } = account;
  const state = STATES[life];
  return {
    slug,
    accountId: id,
    kind,
    state: state === "connected" && wanted.length > 0 ? "needs-scope" : state,
    requested,
    granted,
    missing: missingScopes(account),
    connectedAt,
    ...(account.lifeSince !== undefined && { since: account.lifeSince }),
    ...(account.trouble !== undefined && { trouble: account.trouble }),
    ...(account.issuer !== undefined && { issuer: account.issuer.issuer }),
    ...(account.usedAt !== undefined && { usedAt: account.usedAt }),
    ...(account.expiresAt !== undefined && { expiresAt: account.expiresAt }),
    ...(account.keyEnd !== undefined && { keyEnd: account.keyEnd }),
    ...(account.connectedBy !== undefined && { connectedBy: account.connectedBy }),
  };
}

/** @param code of `Trouble`. */
export function problem(code: string): {
  readonly kind: "problem";
  readonly problem: ConnectProblem;
} {
  return { kind: "problem", problem: { code } };
}
