/** The models of the pages about accounts: what a vault says, in the words of the pages. */

import { callbackUrl } from "../accounts/addresses.ts";
import { labelOf } from "../accounts/settings.ts";
import type { AccountSummary, ConnectProblem } from "../accounts/vault.ts";
import { hostOf, isShared, wordsOf } from "./account-context.ts";
import type { AccountVisit } from "./account-visit.ts";
import { troubleWords } from "./trouble-words.ts";
import type { ShownAccount } from "./view/account-parts.ts";
import type { AccountProblemView } from "./view/account-problem-view.ts";
import type { AccountPage } from "./view/connect-account-view.ts";

/** @param connectedBy the name of the person who connected it for all, if it is known. */
export function shownAccount(account: AccountSummary, connectedBy?: string): ShownAccount {
  const { state, issuer, keyEnd, granted, connectedAt, usedAt, trouble } = account;
  return {
    state,
    issuerHost: issuer === undefined ? undefined : hostOf(issuer),
    keyEnd,
    granted,
    connectedAt,
    usedAt,
    trouble: trouble === undefined ? undefined : troubleWords(trouble).whatHappened,
    connectedBy,
  };
}

export function accountPageModel(
  { server, visitor }: AccountVisit,
  account: AccountSummary | undefined,
): AccountPage {
  const { slug, url, auth } = server;
  return {
    now: Date.now(),
    csrf: visitor.formToken,
    server: { slug, label: labelOf(server), host: hostOf(url), help: wordsOf(auth).help },
    person: visitor.label,
    isAdmin: visitor.isAdmin,
    isShared: isShared(server),
    account: account && shownAccount(account),
  };
}

const STEPS = {
  wait: ["Wait some minutes, then try again.", "If it lasts, tell whoever runs this gateway."],
  connect: ["Connect the account again.", "If it happens again, tell whoever runs this gateway."],
  choose: [],
  operator: ["Tell whoever runs this gateway: they see on this page what to change."],
} as const;
const AGAIN = {
  wait: "Try again",
  connect: "Connect again",
  choose: "Begin again",
  operator: undefined,
} as const;

export interface AccountProblem {
  readonly status: number;
  readonly model: AccountProblemView;
}

export function accountProblem(
  visit: AccountVisit,
  { code }: ConnectProblem,
  account?: AccountSummary,
): AccountProblem {
  const { status, title, whatHappened, help, forOperator } = troubleWords(code);
  const { server, context } = visit;
  const { slug, auth } = server;
  const table = `MCP_SERVERS.${slug}.${auth.kind === "key" ? "key" : "oauth"}`;
  return {
    status,
    model: {
      ...accountPageModel(visit, account),
      title,
      whatHappened,
      whatToDo: STEPS[help],
      again: code === "unknown-link" ? "Connect your own account" : AGAIN[help],
      operator:
        forOperator === undefined
          ? undefined
          : { sentence: forOperator, table, redirectUri: callbackUrl(context.origin, slug) },
    },
  };
}
