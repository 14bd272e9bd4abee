/**
 * Guards the pages of signed-in users: who may see one, and whose form is accepted. A GET changes
 * nothing; a form has to be sent with POST from a page of ours, with the token of its session. Only
 * the browser's session counts here, and no bearer token.
 */

import {
  hasFormToken,
  isForeign,
  isFresh,
  readForm,
  type SignedIn,
  signedIn,
  signInPath,
} from "../auth/sign-in/browser.ts";
import { addressOf, type AuthContext } from "../auth/context/context.ts";
import type { AuditDetail, AuditEvent } from "../observability/audit.ts";
import type { SiteContext } from "./account-context.ts";
import { problemPage } from "./problems.ts";
import { page, seeOther } from "./respond.ts";
import { PATHS } from "./view/paths.ts";
import { problemView, type ProblemView } from "./view/problem-view.ts";

export type Handler = (context: SiteContext, request: Request) => Promise<Response>;

interface PageGuard {
  /** The path to return to after a sign-in. */
  readonly path: string;
  readonly forAdmins?: boolean;
  /** An action that gives lasting access, or takes it from others, requires a new sign-in. */
  readonly isFresh?: boolean;
}

/** The guard of forms that affect other people. */
export const ADMIN_FORM: PageGuard = { path: PATHS.admin, forAdmins: true, isFresh: true };

export interface Submission {
  readonly who: SignedIn;
  readonly form: URLSearchParams;
}

/** Wraps a page for a signed-in user. */
export function shown(
  guard: Pick<PageGuard, "forAdmins">,
  show: (context: SiteContext, who: SignedIn, request: Request) => Promise<Response>,
): Handler {
  return async (context, request) => {
    const who = await signedIn(context, request);
    if (who === undefined) return signInFirst(context, request);
    if (guard.forAdmins === true && !who.user.isAdmin) return adminsOnly(context);
    return show(context, who, request);
  };
}

/** Wraps the action of a form of such a page. */
export function submitted(
  { path, forAdmins = false, isFresh: needsFresh = false }: PageGuard,
  act: (context: SiteContext, submission: Submission, request: Request) => Promise<Response>,
): Handler {
  return async (context, request) => {
    if (isForeign(request, context.origin)) return foreignForm(context);
    // The sender decides when a body ends, and their access may end before. So they are judged after it.
    const form = await readForm(request);
    const who = await signedIn(context, request);
    if (who === undefined) return signInAgain(context, path);
    if (form === undefined) return problemPage(context, { problem: "no-form" });
    const { user } = who;
    if (!hasFormToken(form, who)) {
      await audited(context, request, user.id, "denied", { reason: "form token" });
      return foreignForm(context);
    }
    if (forAdmins && !user.isAdmin) {
      await audited(context, request, user.id, "denied", { reason: "not an administrator" });
      return adminsOnly(context);
    }
    if (needsFresh && !isFresh(context, who.session)) return signInAgain(context, path);
    return act(context, { who, form }, request);
  };
}

/**
 * For a page that nobody sees who is not signed in. The sign-in leads back to what its link asked for, without the
 * notice of an action: that is over.
 */
export function signInFirst(context: Where, { url }: Request): Response {
  const { pathname, searchParams } = new URL(url);
  searchParams.delete(NOTICE);
  const query = searchParams.toString();
  return seeOther(signInPath(query === "" ? pathname : `${pathname}?${query}`), context);
}

/**
 * For an action that takes a new sign-in, or whose sender is signed out meanwhile. It is not done, and the page to
 * which the sign-in leads says so.
 */
export function signInAgain(context: Where, path: string): Response {
  return seeOther(signInPath(withNotice(context, path, "signed-in-again"), true), context);
}

/** Appends an action to the audit log of the affected user, with the address of the request. */
export function audited(
  { store }: AuthContext,
  request: Request,
  user: string,
  event: AuditEvent,
  detail?: AuditDetail,
): Promise<void> {
  return store.ofUser(user).audit.append(user, event, { ...detail, address: addressOf(request) });
}

type Where = Pick<AuthContext, "origin">;

/** Cross-site request forgery, or a page that was left open over a sign-in. */
export function foreignForm(context: Where): Response {
  return refusal(context, 403, {
    title: "This form is out of date",
    whatHappened: "It does not come from a page that this sign-in was shown.",
    whatToDo: ["Go back, load the page again, and try once more."],
  });
}

export function adminsOnly(context: Where): Response {
  return refusal(context, 403, {
    title: "For administrators",
    whatHappened: "You are signed in, but not as an administrator.",
    whatToDo: ["Whoever runs this gateway can make you one."],
  });
}

export function refusal({ origin }: Where, status: number, model: ProblemView): Response {
  return page(problemView(model), { origin, status });
}

export type Notice = keyof typeof NOTICES;

/** What has become of an action, as a sentence. */
const NOTICES = {
  "signed-in-again": "You have signed in again. Nothing was done yet: do it once more.",
  "connection-revoked": "The application is disconnected.",
  "approval-forgotten": "The approval is forgotten: you will be asked again.",
  "session-ended": "That browser is signed out.",
  "key-revoked": "The key works no more.",
  "published-ended": "The server is not published any more.",
  "published-paused": "The server is paused: nobody is served by it, you neither.",
  "published-resumed": "The server is served again.",
  "account-disconnected": "The account is disconnected.",
  "user-disabled": "The person is disabled and signed out everywhere.",
  "user-enabled": "The person may sign in again.",
  "client-deleted": "The application is deleted, and disconnected from everybody.",
  "service-revoked": "The service client is gone, with its tokens.",
  "server-off": "The server is off, within ten seconds everywhere.",
  "server-on": "The server is on again, within ten seconds everywhere.",
  "server-changed-elsewhere": "It has changed since that page was loaded, so nothing was done.",
  "server-switches-full": "There are as many switches as can be kept, so nothing was done.",
  "tool-changed-elsewhere": "It has changed since that page was loaded, so nothing was done.",
  "tool-switches-full":
    "No more can be denied here, so nothing was done. The configuration can deny more.",
  "tool-denied": "The tool is denied, within ten seconds everywhere.",
  "tool-allowed": "The tool is allowed again, within ten seconds everywhere.",
  "server-added": "The draft is kept. It serves nobody yet.",
  "servers-added": "The drafts are kept. They serve nobody yet.",
  "server-live": "The server is served, within ten seconds everywhere.",
  "server-paused": "The server is paused, within ten seconds everywhere.",
  "server-edited": "The change is kept, and holds within ten seconds everywhere.",
  "server-moved":
    "The change is kept. At another address it is a draft, and serves nobody until you have it served.",
  "server-edit-outdated": "That page was out of date, so nothing was done.",
  "server-removed": "The server is removed, within ten seconds everywhere.",
  "server-checked": "The server was looked at.",
  "server-checked-often": "It is looked at already. Wait a moment, then load this page again.",
} as const;

/** The parameter with the word for a notice. */
const NOTICE = "done";

/** Redirects to the page of a form, with a word for the notice that the page shows. */
export function done(context: Where, path: string, notice: Notice): Response {
  return seeOther(withNotice(context, path, notice), context);
}

function withNotice({ origin }: Where, path: string, notice: Notice): string {
  const { pathname, searchParams, hash } = new URL(path, origin);
  searchParams.set(NOTICE, notice);
  return `${pathname}?${searchParams.toString()}${hash}`;
}

/**
 * @param about the beginning of the words that belong to a part of the page.
 * @returns one of our sentences, whatever the query contains.
 */
export function noticeOf({ url }: Request, about = ""): string | undefined {
  const word = new URL(url).searchParams.get(NOTICE) ?? "";
  const isKnown = word.startsWith(about) && Object.hasOwn(NOTICES, word);
  return isKnown ? NOTICES[word as keyof typeof NOTICES] : undefined;
}
