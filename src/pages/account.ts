/** `/account`: the applications that a user has approved, and the actions in their name. */

import type { SignedIn } from "../auth/sign-in/browser.ts";
import type { AuthContext } from "../auth/context/context.ts";
import { verifiedHost } from "../auth/clients/client-id-url.ts";
import { isRemembered } from "../auth/sign-in/approval-rules.ts";
import type { Approval } from "../auth/store/approvals.ts";
import { type ApiKey, beginningOf } from "../auth/store/api-keys.ts";
import type { AuditEntry } from "../auth/store/audit-log.ts";
import type { BrowserSession } from "../auth/store/browser-sessions.ts";
import type { Grant } from "../auth/oauth/grants/grants.ts";
import { AUDIT_EVENTS } from "../observability/audit.ts";
import { formOf, type Offer, resourcesFor } from "./credential-choice.ts";
import { shown } from "./page-guard.ts";
import { noticeOf } from "./page-notices.ts";
import { personLabel, providerTitle } from "./person-title.ts";
import { wordsFor } from "./reason-words.ts";
import { page } from "./respond.ts";
import {
  accountView,
  type Connection,
  type RememberedApproval,
  type SignedInBrowser,
} from "./view/account-view.ts";
import type { ApiKeyRow } from "./view/account-keys-view.ts";
import type { ActivityLine } from "./view/activity.ts";
import type { CredentialForm } from "./view/credential-form.ts";
import { redirectTarget } from "./view/redirect-target.ts";

/** In this order: most of them also claim to be the later ones. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\b(?:OPR|Opera)\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

export const showAccount = shown({}, (context, who, request) =>
  accountPage(context, who, { notice: noticeOf(request) }),
);

interface Extras {
  readonly notice?: string | undefined;
  /** The form for a key, when it is shown again with an error. */
  readonly keyForm?: CredentialForm;
  readonly status?: number;
}

const SHOWN_LINES = 50;

export async function accountPage(
  context: AuthContext,
  { user, session, formToken }: SignedIn,
  { notice, keyForm, status = 200 }: Extras,
): Promise<Response> {
  const shard = context.store.ofUser(user.id);
  const [grants, approvals, sessions, keys, entries] = await Promise.all([
    shard.grants.list(user.id),
    shard.approvals.list(user.id),
    shard.sessions.list(user.id),
    shard.keys.list(user.id),
    shard.audit.list(user.id, SHOWN_LINES),
  ]);
  const provider = context.providers.get(user.provider);
  const view = accountView({
    now: Date.now(),
    csrf: formToken,
    person: {
      label: personLabel(user),
      provider: provider === undefined ? user.provider : providerTitle(provider),
      isAdmin: user.isAdmin,
    },
    connections: grants.map(connectionOf),
    approvals: approvals.filter(isRemembered).map(approvalOf),
    sessions: sessions.map((each) => browserOf(each, session.id)),
    keys: {
      list: keys.map(keyOf),
      form: keyForm ?? formOf(keyOffer(context, user)),
    },
    activity: entries.map(lineOf),
    notice,
  });
  return page(view, { origin: context.origin, status });
}

const KEY_DAYS = [365, 180, 90, 30, 7];

/** The longest lifetime first: the form preselects it. */
export function keyOffer(
  { authority, limits }: Pick<AuthContext, "authority" | "limits">,
  user: { readonly isAdmin: boolean },
): Offer {
  const days = KEY_DAYS.filter((each) => each < limits.apiKeyDays);
  return {
    resources: resourcesFor(authority.resources, user),
    days: [limits.apiKeyDays, ...days],
  };
}

function connectionOf({ name, client, redirectUri, usedAt, ...grant }: Grant): Connection {
  return {
    id: grant.id,
    clientName: name,
    verifiedHost: verifiedHost(client),
    redirectHost: redirectTarget(redirectUri).place,
    resource: grant.resource,
    scopes: grant.scopes,
    createdAt: grant.createdAt,
    lastUsedAt: usedAt,
  };
}

/** All approvals of an application are withdrawn together, so they share its id. */
function approvalOf({ client, name, redirectUri, ...approval }: Approval): RememberedApproval {
  return {
    id: client,
    clientName: name,
    verifiedHost: verifiedHost(client),
    redirectHost: redirectTarget(redirectUri).place,
    resource: approval.resource,
    scopes: approval.scopes,
    approvedAt: approval.approvedAt,
  };
}

function browserOf({ id, agent, createdAt, seenAt }: BrowserSession, own: string): SignedInBrowser {
  return { id, agent: browserName(agent), createdAt, seenAt, isThisOne: id === own };
}

function keyOf(key: ApiKey): ApiKeyRow {
  const { id, label, scopes, resources, expiresAt, usedAt } = key;
  const prefix = beginningOf(key);
  return { id, label, prefix, scopes, resources, expiresAt, lastUsedAt: usedAt };
}

function lineOf({ at, event, detail }: AuditEntry): ActivityLine {
  const { application, label, provider, reason, address } = detail;
  const why = reason === undefined ? undefined : wordsFor(reason);
  const said = [application, label, provider, why, address].filter((each) => each !== undefined);
  const { meaning: what, ...rest }: { meaning: string; isDenial?: true } = AUDIT_EVENTS[event];
  const about = said.length === 0 ? undefined : said.join(" · ");
  return { at, what, detail: about, isDenial: rest.isDenial ?? false };
}

/** @returns a name that a person recognises; the given text when it names no known browser. */
function browserName(agent: string): string {
  const nameIn = (table: typeof BROWSERS): string | undefined =>
    table.find(([pattern]) => pattern.test(agent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser === undefined) return agent;
  return system === undefined ? browser : `${browser} on ${system}`;
}
