/** How a step on the way to an account ends: the page of a problem, or the way to the page of the account. */

import { connectPath } from "../accounts/addresses.ts";
import type { AccountSummary, ConnectProblem } from "../accounts/vault.ts";
import type { AuditDetail } from "../observability/audit.ts";
import { hostOf } from "./account-context.ts";
import { accountProblem } from "./account-models.ts";
import type { AccountVisit } from "./account-visit.ts";
import { auditedAs, respondTo } from "./page-visitor.ts";
import { seeOther } from "./respond.ts";
import { accountProblemView } from "./view/account-problem-view.ts";

/** That an account was connected, as `done` in the address of the page that says so. */
export const CONNECTED = "connected";

export function problemResponse(
  visit: AccountVisit,
  problem: ConnectProblem,
  account?: AccountSummary,
): Response {
  const { status, model } = accountProblem(visit, problem, account);
  return respondTo(visit, accountProblemView(model), { status });
}

/** The address of the page that follows has no code and no state. */
export async function connectedResponse(
  visit: AccountVisit,
  account: AccountSummary,
): Promise<Response> {
  const { context, request, visitor, server } = visit;
  await auditedAs(context, request, visitor, "account_connected", factsOf(account));
  return seeOther(`${connectPath(server.slug)}?done=${CONNECTED}`, context);
}

/** What the audit says of an account. */
export function factsOf({ slug, accountId, issuer }: AccountSummary): AuditDetail {
  return {
    ...{ server: slug, account: accountId },
    ...(issuer !== undefined && { issuer: hostOf(issuer) }),
  };
}

export function auditFailure(
  { context, request, visitor, server }: AccountVisit,
  { code }: ConnectProblem,
): Promise<void> {
  const detail = { server: server.slug, reason: code };
  return auditedAs(context, request, visitor, "account_not_connected", detail);
}
