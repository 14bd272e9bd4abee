/**
 * The person at the browser of a page that exists with and without sign-in. Without it there is one
 * person, who runs the gateway on their own machine: a form is then theirs if it has the token of a
 * cookie that no other site can read or set (a signed double submit needs no session).
 */

import { addressOf, type AuthContext } from "../auth/context/context.ts";
import { cookie, readCookies } from "../auth/cookies.ts";
import {
  isForeign,
  isFresh,
  isFreshForForm,
  readForm,
  type SignedIn,
  signedIn,
} from "../auth/sign-in/browser.ts";
import type { User } from "../auth/store/users.ts";
import { isSame, randomSecret } from "../lib/random.ts";
import { type AuditDetail, type AuditEvent, auditLine } from "../observability/audit.ts";
import type { ConnectContext } from "./account-context.ts";
import { foreignForm, signInAgain } from "./page-guard.ts";
import { problemPage } from "./problems.ts";
import { page, type PageOptions } from "./respond.ts";
import type { Nav, View } from "./view/layout.ts";
import { personLabel } from "./words.ts";

export interface PageVisitor {
  /** The owner of a vault. */
  readonly person: string;
  /** Their record; absent where there is no sign-in. */
  readonly user: User | undefined;
  /** Their name on pages; absent where there is no sign-in. */
  readonly label: string | undefined;
  readonly isAdmin: boolean;
  /** They have signed in a moment ago. */
  readonly isFresh: boolean;
  /** That lasts for long enough to fill in a form. */
  readonly isFreshForForm: boolean;
  /** The value of `csrf` in every form. */
  readonly formToken: string;
  /** The values of `Set-Cookie` of the page. */
  readonly cookies: readonly string[];
}

/** The owner of everything where there is no sign-in. */
export const LOCAL_PERSON = "local";
const FORM_COOKIE = "__Host-edgeway-form";
const FORM_TOKEN = /^[A-Za-z0-9_-]{43}$/;
const DAY_SECONDS = 86_400;

/** @returns `undefined` when a sign-in is needed first. */
export async function visitorOf(
  { auth }: ConnectContext,
  request: Request,
): Promise<PageVisitor | undefined> {
  if (auth === undefined) return localVisitor(request);
  const who = await signedIn(auth, request);
  return who && visitorFrom(auth, who);
}

export function visitorFrom(
  auth: AuthContext,
  { user, session, formToken }: SignedIn,
): PageVisitor {
  return {
    person: user.id,
    user,
    label: personLabel(user),
    isAdmin: user.isAdmin,
    isFresh: isFresh(auth, session),
    isFreshForForm: isFreshForForm(auth, session),
    formToken,
    cookies: [],
  };
}

function localVisitor(request: Request): PageVisitor {
  const known = readCookies(request).get(FORM_COOKIE) ?? "";
  const isKnown = FORM_TOKEN.test(known);
  // A request without the cookie gets a new token, which none of its forms can have.
  const formToken = isKnown ? known : randomSecret();
  return {
    person: LOCAL_PERSON,
    user: undefined,
    label: undefined,
    isAdmin: true,
    isFresh: true,
    isFreshForForm: true,
    formToken,
    cookies: isKnown ? [] : [cookie(FORM_COOKIE, formToken, DAY_SECONDS)],
  };
}

export interface SentForm {
  readonly visitor: PageVisitor;
  readonly form: URLSearchParams;
}

/**
 * A form of a page of ours, which its visitor has sent: from this site, with the token of their session.
 *
 * @param path to return to after a sign-in.
 * @returns the refusal of any other.
 */
export async function sentForm(
  context: ConnectContext,
  request: Request,
  path: string,
  maxBytes?: number,
): Promise<SentForm | Response> {
  if (isForeign(request, context.origin)) return foreignForm(context);
  // The sender decides when a body ends, and their access may end before. So they are judged after it.
  const form = await readForm(request, maxBytes);
  const visitor = await visitorOf(context, request);
  if (visitor === undefined) return signInAgain(context, path);
  if (form === undefined) return problemPage(context, { problem: "no-form" });
  if (!isSame(form.get("csrf") ?? "", visitor.formToken)) {
    await auditedAs(context, request, visitor, "denied", { reason: "form token" });
    return foreignForm(context);
  }
  return { visitor, form };
}

/** Somebody at a page of the gateway. */
interface PageVisit {
  readonly context: Pick<ConnectContext, "origin">;
  readonly visitor: PageVisitor;
}

/** @returns a page, with the cookies of its visitor. */
export function respondTo(
  visit: PageVisit,
  view: View,
  answer: Pick<PageOptions, "status" | "formActions"> = {},
): Response {
  return page(view, { ...optionsFor(visit), ...answer });
}

export function optionsFor({ context, visitor }: PageVisit): PageOptions {
  const headers = new Headers(visitor.cookies.map((value) => ["Set-Cookie", value]));
  return { origin: context.origin, headers };
}

/** @param attention how many things need somebody, on pages of whoever runs the gateway. */
export function navFor(
  { isAdmin, user }: PageVisitor,
  current: Nav["current"],
  attention?: number,
): Nav {
  return {
    ...{ current, isAdmin },
    ...(attention !== undefined && { attention }),
    ...(user === undefined && { isLocal: true }),
  };
}

/** Appends an action of this person to their audit log; without sign-in, to the log alone. */
export async function auditedAs(
  { auth }: ConnectContext,
  request: Request,
  { person }: PageVisitor,
  event: AuditEvent,
  detail: AuditDetail = {},
): Promise<void> {
  const full = { ...detail, address: addressOf(request) };
  if (auth === undefined) auditLine(person, event, full);
  else await auth.store.ofUser(person).audit.append(person, event, full);
}
