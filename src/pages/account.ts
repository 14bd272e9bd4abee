/**
 * `/account`: what a user has connected, created and signed in to, and the forms that end it.
 * Anything that is not the person's own does not exist for them (404).
 */

import { NO_SESSION_COOKIE, type SignedIn } from "../auth/sign-in/browser.ts";
import type { AuthContext } from "../auth/context/context.ts";
import { isRemembered } from "../auth/sign-in/approval-rules.ts";
import { beginningOf } from "../auth/store/api-keys.ts";
import type { AuditEntry } from "../auth/store/audit-log.ts";
import { AUDIT_EVENTS } from "../observability/audit.ts";
import type { SiteContext } from "./account-context.ts";
import { ownAccounts } from "./connected-accounts.ts";
import {
  type ChoiceError,
  formOf,
  type Offer,
  readChoice,
  resourcesFor,
} from "./credential-choice.ts";
import { audited, done, noticeOf, shown, signInAgain, submitted } from "./page-guard.ts";
import { ownPublished } from "./published.ts";
import { notFound, page, seeOther } from "./respond.ts";
import { troubleWords } from "./trouble-words.ts";
import { accountView, type ActivityLine } from "./view/account-view.ts";
import { type CredentialForm, keyCreatedView } from "./view/credentials-view.ts";
import { PATHS } from "./view/paths.ts";
import { doneView } from "./view/problem-view.ts";
import { personLabel, providerTitle, wordsFor } from "./words.ts";

const SHOWN_LINES = 50;
const KEY_DAYS = [365, 180, 90, 30, 7];
const DAY_MS = 86_400_000;

export const showAccount = shown({}, (context, who, request) =>
  accountPage(context, who, { notice: noticeOf(request) }),
);

interface Extras {
  readonly notice?: string | undefined;
  /** The form for a key, when it is shown again with an error. */
  readonly keyForm?: CredentialForm;
  readonly status?: number;
}

async function accountPage(
  context: SiteContext,
  { user, session, formToken }: SignedIn,
  { notice, keyForm, status = 200 }: Extras,
): Promise<Response> {
  const shard = context.store.ofUser(user.id);
  const [grants, approvals, sessions, keys, entries, accounts, published] = await Promise.all([
    shard.grants.list(user.id),
    shard.approvals.list(user.id),
    shard.sessions.list(user.id),
    shard.keys.list(user.id),
    shard.audit.list(user.id, SHOWN_LINES),
    ownAccounts(context, user),
    ownPublished(context, user),
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
    accounts,
    published,
    grants,
    approvals: approvals.filter(isRemembered),
    sessions,
    ownSession: session.id,
    keys: {
      list: keys.map((key) => ({ ...key, beginning: beginningOf(key) })),
      form: keyForm ?? formOf(keyOffer(context, user)),
    },
    activity: entries.map(lineOf),
    endpoint: `${context.origin}/mcp`,
    isPublishingOn: context.publishers !== undefined,
    notice,
  });
  return page(view, { origin: context.origin, status });
}

/** The longest lifetime first: the form preselects it. */
function keyOffer({ authority, limits }: AuthContext, user: { readonly isAdmin: boolean }): Offer {
  const days = KEY_DAYS.filter((each) => each < limits.apiKeyDays);
  return {
    resources: resourcesFor(authority.resources, user),
    days: [limits.apiKeyDays, ...days],
  };
}

function lineOf({ at, event, detail }: AuditEntry): ActivityLine {
  const { application, server, tool, label, provider, reason, address } = detail;
  const why = reason === undefined ? undefined : reasonIn(event, reason);
  const said = [application, server, tool, label, provider, why, address].filter(
    (each) => each !== undefined,
  );
  const { meaning: what, ...rest }: { meaning: string; isDenial?: true } = AUDIT_EVENTS[event];
  const about = said.length === 0 ? undefined : said.join(" · ");
  return { at, what, detail: about, isDenial: rest.isDenial ?? false };
}

function reasonIn(event: AuditEntry["event"], reason: string): string {
  return event === "account_not_connected" ? troubleWords(reason).title : wordsFor(reason);
}

const ACCOUNT = { path: PATHS.account };
const FRESH_ACCOUNT = { ...ACCOUNT, isFresh: true };

export const revokeConnection = submitted(ACCOUNT, async (context, { who, form }, request) => {
  const { id: user } = who.user;
  const id = form.get("id") ?? "";
  const shard = context.store.ofUser(user);
  const grant = await shard.grants.find(user, id);
  if (grant === undefined || !(await shard.endGrant(user, id))) return notFound(context);
  await audited(context, request, user, "grant_revoked", { application: grant.name });
  return done(context, PATHS.account, "connection-revoked");
});

export const forgetApproval = submitted(ACCOUNT, async (context, { who, form }, request) => {
  const { id: user } = who.user;
  const client = form.get("id") ?? "";
  const { approvals } = context.store.ofUser(user);
  const approval = (await approvals.list(user)).find((each) => each.client === client);
  if (approval === undefined) return notFound(context);
  await approvals.forget(user, client);
  await audited(context, request, user, "approval_forgotten", { application: approval.name });
  return done(context, PATHS.account, "approval-forgotten");
});

export const endBrowserSession = submitted(ACCOUNT, async (context, { who, form }, request) => {
  const { id: user } = who.user;
  const id = form.get("id") ?? "";
  if (!(await context.store.ofUser(user).sessions.endById(user, id))) return notFound(context);
  await audited(context, request, user, "session_ended");
  if (id !== who.session.id) return done(context, PATHS.account, "session-ended");
  const headers = new Headers({ "Set-Cookie": NO_SESSION_COOKIE });
  return seeOther(PATHS.account, { origin: context.origin, headers });
});

/** Keys are created by a user who signed in a moment ago, and shown once. */
export const createKey = submitted(FRESH_ACCOUNT, async (context, { who, form }, request) => {
  const { user, session } = who;
  const { store, origin, limits } = context;
  const offer = keyOffer(context, user);
  const reading = readChoice(form, offer);
  const again = (error: ChoiceError): Promise<Response> => {
    const keyForm = formOf(offer, { choice: reading.choice, error });
    return accountPage(context, who, { keyForm, status: 400 });
  };
  if (reading.kind === "error") return again(reading.error);
  const { label, scopes, resources, days } = reading.choice;
  const now = Date.now();
  const made = await store.ofUser(user.id).keys.createWithin(
    limits.apiKeysPerUser,
    {
      kind: "sk",
      owner: user.id,
      label,
      scopes,
      resources,
      ...(session.codeMac !== undefined && { codeMac: session.codeMac }),
      expiresAt: now + days * DAY_MS,
    },
    session.id,
  );
  if (made === "signed-out") return signInAgain(context, PATHS.account);
  if (made === "enough") {
    const sentence = `You have ${limits.apiKeysPerUser} keys: revoke one that you do not need.`;
    return again({ field: "label", sentence });
  }
  const { key, token } = made;
  await audited(context, request, user.id, "key_created", { key: key.id, label });
  const [endpoint = ""] = resources;
  const { isAdmin } = user;
  const { expiresAt } = key;
  const view = keyCreatedView({ label, key: token, expiresAt, now, endpoint, isAdmin });
  return page(view, { origin });
});

export const revokeKey = submitted(ACCOUNT, async (context, { who, form }, request) => {
  const { id: user } = who.user;
  const key = form.get("id") ?? "";
  if (!(await context.store.ofUser(user).endKey(user, key))) return notFound(context);
  await audited(context, request, user, "key_revoked", { key });
  return done(context, PATHS.account, "key-revoked");
});

export const revokeAll = submitted(FRESH_ACCOUNT, async (context, { who }, request) => {
  const { id } = who.user;
  await context.store.ofUser(id).revokeEverything(id);
  await audited(context, request, id, "everything_revoked");
  const view = doneView(
    "Everything is revoked",
    "Every application, key and browser of yours has to sign in again, this one too.",
  );
  const headers = new Headers({ "Set-Cookie": NO_SESSION_COOKIE });
  return page(view, { origin: context.origin, headers });
});
