/** Handles the person's answer on the consent page. */

import { endSession, isFresh, NO_SESSION_COOKIE, signedIn } from "./browser.ts";
import type { AuthContext } from "../context/context.ts";
import { ADMIN, USE } from "../scopes.ts";
import { NO_CHANGES } from "./approval-rules.ts";
import {
  type Attempt,
  type AuthorizeContent,
  problem,
  type Settled,
  type SignInOutcome,
  type StepOutcome,
  withCookies,
} from "./attempt.ts";
import { attemptExpired, attemptMark, HeldAttempt } from "./held-attempt.ts";
import { answerError, issueApproved } from "./issue.ts";
import { choices, goToLogin } from "./redirect-to-provider.ts";
import { whoIsThere } from "./admit.ts";

/** The scopes that a page offers: the fixed ones, and those that the person can leave out. */
export interface OfferedScopes {
  readonly fixed: readonly string[];
  readonly optional: readonly string[];
}

/** A scope for everything includes each part of it: then no scope can be left out. */
export function offeredScopes(scopes: readonly string[]): OfferedScopes {
  const isWhole = scopes.length === 1 || scopes.includes(USE);
  return isWhole ? { fixed: scopes, optional: [] } : { fixed: [], optional: scopes };
}

/** @param form the form of this attempt's page; nothing in it adds to what the page offered. */
export async function decide(
  context: AuthContext,
  request: Request,
  form: URLSearchParams,
): Promise<StepOutcome> {
  const decision = form.get("decision");
  const mark = await attemptMark(request, form.get("handle"));
  if (decision !== "approve" && decision !== "deny")
    return attemptExpired(context, "malformed", mark);
  const held = await HeldAttempt.of(context, request, form.get("handle"));
  if (typeof held === "string") return attemptExpired(context, held, mark);
  const ending = await held.step("consent", ({ content, ...attempt }) => {
    // Every attempt at this stage has this content.
    if (content.kind !== "authorize") throw new TypeError("There is nothing to decide");
    const asked = { ...attempt, content, endCookie: held.endCookie };
    return decision === "deny"
      ? deny(context, request, asked)
      : approve(context, request, asked, form.getAll("scope"));
  });
  return ending ?? attemptExpired(context, "used", mark);
}

interface Asked extends Attempt {
  readonly content: AuthorizeContent;
  /** The `Set-Cookie` that deletes the attempt's cookie. */
  readonly endCookie: string;
}

async function approve(
  context: AuthContext,
  request: Request,
  { content, endCookie, ...attempt }: Asked,
  posted: readonly string[],
): Promise<Settled> {
  // Without a sign-in nothing was approved: the person can send the form again.
  const asked = { stage: "consent", content } as const;
  const { fixed, optional } = offeredScopes(content.scopes);
  const approved = [...fixed, ...optional.filter((scope) => posted.includes(scope))];
  if (approved.length === 0) {
    return { ending: problem("nothing-chosen"), next: asked };
  }
  const step = { kind: "answered", decision: "approved", client: content.client.id } as const;
  context.trace({ ...step, attempt: attempt.id });
  const there = await whoIsThere(context, request);
  if (there.kind === "problem") return { ending: there, next: asked };
  // The page named the user who grants access, or required a sign-in: no other user is accepted.
  const person = there.person?.user.id === content.shownTo ? there.person : undefined;
  if (person === undefined || (approved.includes(ADMIN) && !isFresh(context, person))) {
    const answered = { ...attempt, content: { ...content, approved } };
    const { ending, next = asked } = await goToLogin(context, request, answered, there.person);
    return { next, ending: withCookies(ending, there.cookies) };
  }
  const whole = { content, scopes: approved, attempt: attempt.id };
  const ending = await issueApproved(context, whole, person);
  return { ending: withCookies(ending, [...there.cookies, endCookie]) };
}

async function deny(
  context: AuthContext,
  request: Request,
  { content, id, endCookie }: Asked,
): Promise<Settled> {
  const { client } = content;
  const signedInPerson = await signedIn(context, request);
  if (signedInPerson !== undefined) {
    const { user } = signedInPerson;
    const detail = { application: client.name, client: client.id };
    await context.store.ofUser(user.id).audit.append(user.id, "consent_denied", detail);
  }
  const step = { kind: "answered", decision: "denied", client: client.id } as const;
  const ending = await answerError(context, content.request, signedInPerson?.user, {
    code: "access_denied",
    description: "The person said no",
    reference: context.trace({ ...step, attempt: id }),
  });
  return { ending: withCookies(ending, [endCookie]) };
}

/** "Not you?": ends the session, and asks again as for a person who is not signed in. */
export async function askSomebodyElse(
  context: AuthContext,
  request: Request,
  form: URLSearchParams,
): Promise<SignInOutcome> {
  const held = await HeldAttempt.of(context, request, form.get("handle"));
  const mark = await attemptMark(request, form.get("handle"));
  if (typeof held === "string") return attemptExpired(context, held, mark);
  const found = await held.find();
  if (found === undefined) return attemptExpired(context, "used", mark);
  const { handle, stage, content } = found;
  if (stage !== "consent" || content.kind !== "authorize")
    return attemptExpired(context, "used", mark);
  if (choices(context).length === 0) return problem("not-fresh");
  const { shownTo, ...rest } = content;
  const anew = { ...rest, needsLogin: true };
  if (!(await held.change(stage, anew))) return attemptExpired(context, "used", mark);
  await endSession(context, request);
  if (shownTo !== undefined)
    await context.store.ofUser(shownTo).audit.append(shownTo, "signed_out");
  return {
    kind: "consent",
    handle,
    content: anew,
    user: undefined,
    changes: NO_CHANGES,
    cookies: [NO_SESSION_COOKIE],
  };
}
