/** Handles an authorization request up to the consent question. */

import { isFresh } from "./browser.ts";
import type { AuthContext } from "../context/context.ts";
import { claimedId } from "../trace/mask.ts";
import { ADMIN } from "../scopes.ts";
import { readAuthorizeRequest } from "../oauth/endpoints/authorize-request.ts";
import { changesSince, isCovered, NO_CHANGES } from "./approval-rules.ts";
import type { AuthorizeContent } from "./attempt.ts";
import { problem, withCookies } from "./ending.ts";
import { issueCode } from "./issue.ts";
import { judgeAsk } from "./judge-ask.ts";
import { knownClient } from "./known-client.ts";
import { mayAsk } from "./sign-in-limits.ts";
import { newHandle, openAttempt } from "./open-attempt.ts";
import type { SignInOutcome } from "./sign-in-outcome.ts";
import type { SignedInPerson } from "./signed-in-person.ts";
import { whoIsThere } from "./present.ts";

export async function ask(context: AuthContext, request: Request): Promise<SignInOutcome> {
  const reading = readAuthorizeRequest(request, context.origin);
  if (reading.kind === "unreadable") {
    const { status, sentence } = reading;
    const step = { kind: "ask_refused", reason: "malformed", detail: sentence } as const;
    const reference = context.trace(step);
    return problem(status === 414 ? "too-long" : "unreadable", { reference, sentence });
  }
  const wait = await mayAsk(context, request);
  if (wait !== undefined) {
    const step = {
      kind: "ask_refused",
      reason: "limited",
      ...claimedId(reading.clientId),
    } as const;
    return problem("limited", { reference: context.trace(step), retryAfterSeconds: wait });
  }
  const [found, there] = await Promise.all([
    knownClient(context, request, reading),
    whoIsThere(context, request),
  ]);
  if (found.kind === "problem") return found;
  if (there.kind === "problem") return there;
  const judged = await judgeAsk(context, reading, {
    found,
    user: there.person?.user,
  });
  if (judged.kind !== "authorize") return judged;
  // The page shows nothing about a person who has to sign in anew.
  const person = judged.needsLogin ? undefined : there.person;
  const isAsked = reading.asksForConsent || !isNavigation(request);
  const outcome = await answerOrAsk(context, request, { content: judged, person, isAsked });
  return withCookies(outcome, there.cookies);
}

interface Asking {
  readonly content: AuthorizeContent;
  readonly person: SignedInPerson | undefined;
  /** The user is asked whatever they approved before. */
  readonly isAsked: boolean;
}

async function answerOrAsk(
  context: AuthContext,
  request: Request,
  { content, person, isAsked }: Asking,
): Promise<SignInOutcome> {
  const { client, scopes } = content;
  const user = person?.user;
  const approvals =
    user === undefined ? [] : await context.store.ofUser(user.id).approvals.list(user.id);
  if (person !== undefined && !isAsked && isCovered(content, approvals)) {
    if (!scopes.includes(ADMIN) || isFresh(context, person)) {
      context.trace({ kind: "answered", decision: "remembered", client: client.id });
      return issueCode(context, { content, scopes }, person);
    }
  }
  const { handle, id } = await newHandle();
  const cookies = await openAttempt(context, request, {
    handle,
    id,
    stage: "consent",
    content: user === undefined ? content : { ...content, shownTo: user.id },
  });
  context.trace({ kind: "consent_shown", client: client.id, attempt: id });
  return {
    kind: "consent",
    handle,
    content,
    cookies,
    user,
    changes: user === undefined ? NO_CHANGES : changesSince(content, approvals),
  };
}

/**
 * @returns whether the request is a navigation: a page that another page loads in the background
 *   cannot ask a question.
 */
function isNavigation({ headers }: Request): boolean {
  const mode = headers.get("sec-fetch-mode") ?? "navigate";
  return mode === "navigate" && (headers.get("sec-fetch-dest") ?? "document") === "document";
}
