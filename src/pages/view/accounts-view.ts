/**
 * Accounts at servers, as parts of other pages: a person's own on `/account`, and on `/admin` how each
 * server knows its callers and who has connected an account. No page has a token.
 */

import { connectPath } from "../../accounts/addresses.ts";
import type { ServerAuth } from "../../accounts/settings.ts";
import { accountBadge, accountFacts, isWorking, type ShownAccount } from "./account-parts.ts";
import { type Html, html } from "./html.ts";
import {
  actionButton,
  badge,
  entry,
  exactText,
  foreign,
  listOf,
  type PageContext,
  part,
} from "./parts.ts";
import { disconnectPath, PATHS } from "./paths.ts";

export interface OwnAccountRow {
  readonly slug: string;
  readonly label: string;
  /** `undefined` for a server that is not configured any more. */
  readonly host: string | undefined;
  readonly account: ShownAccount | undefined;
}

const TITLE = "Accounts at servers";
const UNREADABLE =
  "cannot be shown at the moment, because the gateway cannot read it. Load this page again in a moment.";

/** @param rows absent where they are not known at the moment. */
export function ownAccountsSection(
  rows: readonly OwnAccountRow[] | undefined,
  page: PageContext,
): Html | undefined {
  if (rows === undefined)
    return part(
      TITLE,
      undefined,
      html`<p class="note warn">What you have connected ${UNREADABLE}</p>`,
    );
  if (rows.length === 0) return undefined;
  return part(
    TITLE,
    "These servers know you by an account of your own. Your applications use it through this gateway.",
    listOf(
      rows.map((row) => ownAccount(row, page)),
      "",
    ),
  );
}

function ownAccount({ slug, label, host, account }: OwnAccountRow, page: PageContext): Html {
  return entry({
    title: html`${foreign(label, slug)} ${accountBadge(account)}
    ${host === undefined && badge("Not served any more", "warn")}`,
    facts: [
      ...(host === undefined ? [] : [["Server", exactText(host)] as const]),
      ...(account === undefined ? [] : accountFacts(account, page.now)),
    ],
    action: html`${host !== undefined && connectLink(slug, label, account)}
    ${account !== undefined && disconnectButton({ slug, label, back: "account" }, page)}`,
  });
}

function connectLink(slug: string, label: string, account: ShownAccount | undefined): Html {
  const words = account === undefined ? "Connect" : isWorking(account) ? "Change" : "Reconnect";
  return html`<a
    class="button ${words === "Change" ? "plain" : "primary"}"
    href="${connectPath(slug)}"
    >${words}<span class="unseen"> ${foreign(label, slug)}</span></a
  >`;
}

interface Disconnect {
  readonly slug: string;
  readonly label: string;
  /** The page to return to. */
  readonly back: "account" | "admin";
}

function disconnectButton({ slug, label, back }: Disconnect, { csrf }: PageContext): Html {
  return actionButton({
    action: disconnectPath(slug),
    label: "Disconnect",
    about: label,
    fields: { csrf, back },
    look: "danger",
  });
}

/** A server that knows its callers by accounts. */
export interface AccountServerRow {
  readonly slug: string;
  readonly label: string;
  readonly host: string;
  readonly kind: ServerAuth["kind"];
  /** Where the authorization server sends browsers back to; absent where no browser is sent. */
  readonly redirectUri: string | undefined;
  /** The account that all share. */
  readonly shared: ShownAccount | undefined;
  /** False where it could not be asked whether there is one. */
  readonly isSharedKnown: boolean;
  readonly people: readonly PersonAccount[];
  /** How many people more may have one: they were not asked for, or their vaults did not answer. */
  readonly notKnown: number;
}

interface PersonAccount {
  readonly label: string;
  readonly account: ShownAccount;
}

export const KNOWN_BY: Readonly<Record<ServerAuth["kind"], string>> = {
  none: "by nothing",
  headers: "by the operator’s headers",
  oauth: "by each person’s own account",
  "oauth-shared": "by one account for everybody",
  key: "by each person’s own key",
  "client-credentials": "by the gateway’s own account, whoever calls",
};

export function accountServersSection(
  rows: readonly AccountServerRow[],
  page: PageContext,
): Html | undefined {
  if (rows.length === 0) return undefined;
  return part(
    TITLE,
    "How servers know who calls. Where an authorization server asks for a redirect URI, enter it exactly as it stands here.",
    listOf(
      rows.map((row) => accountServer(row, page)),
      "",
    ),
  );
}

export function sealSection({ csrf }: PageContext): Html {
  return part(
    "The secret of the accounts",
    "After VAULT_SECRET got a new first secret, seal all accounts, and the secrets of added servers, with it before you remove an earlier one.",
    actionButton({
      action: PATHS.sealAccounts,
      label: "Seal all accounts anew",
      fields: { csrf },
    }),
  );
}

function accountServer(row: AccountServerRow, page: PageContext): Html {
  const { slug, label, host, kind, redirectUri, shared, isSharedKnown } = row;
  const isShared = kind === "oauth-shared";
  const hasOne = isShared || kind === "client-credentials";
  const isUnknown = hasOne && !isSharedKnown;
  const state = isUnknown ? badge("Not known", "warn") : accountBadge(shared);
  return entry({
    title: html`${foreign(label, slug)} ${hasOne && state}`,
    facts: [
      ["Server", exactText(host)],
      ["Knows callers", KNOWN_BY[kind]],
      ...(redirectUri === undefined ? [] : [["Redirect URI", exactText(redirectUri)] as const]),
      ...(isUnknown ? [["Account", `It ${UNREADABLE}`] as const] : []),
      ...(shared === undefined ? [] : accountFacts(shared, page.now)),
      ...(hasOne ? [] : [["Connected by", peopleList(row)] as const]),
    ],
    action:
      isShared && !isUnknown
        ? html`${connectLink(slug, label, shared)}
          ${shared !== undefined && disconnectButton({ slug, label, back: "admin" }, page)}`
        : undefined,
  });
}

function peopleList({ people, notKnown }: AccountServerRow): Html | string {
  if (people.length === 0 && notKnown === 0) return "nobody yet";
  return html`${people.map(
    ({ label, account }, n) =>
      html`${n > 0 && ", "}<span>${foreign(label, "somebody")} ${accountBadge(account)}</span>`,
  )}${
    notKnown > 0 &&
    html` <span class="small"
      >Not known of ${notKnown === 1 ? "1 more person" : `${notKnown} more people`}, who may have
      one.</span
    >`
  }`;
}
