/** Asks whether an application may act for a person: an attempt of its own for each page. */

import type { AuthContext } from "../context/context.ts";
import type { Approval } from "../store/approvals.ts";
import { changesSince, NO_CHANGES } from "./approval-rules.ts";
import type { AuthorizeContent, ConsentQuestion, SignedInPerson } from "./attempt.ts";
import { newHandle, openAttempt } from "./held-attempt.ts";

/**
 * @param person the person whom the page names, if it names one.
 * @param approvals of that person, newest first.
 */
export async function askForConsent(
  context: AuthContext,
  request: Request,
  content: AuthorizeContent,
  {
    person,
    approvals,
  }: {
    readonly person: SignedInPerson | undefined;
    readonly approvals: readonly Approval[];
  },
): Promise<ConsentQuestion> {
  const { handle, id } = await newHandle();
  const user = person?.user;
  const cookies = await openAttempt(context, request, {
    handle,
    id,
    stage: "consent",
    content: user === undefined ? content : { ...content, shownTo: user.id },
  });
  context.trace({ kind: "consent_shown", client: content.client.id, attempt: id });
  const changes = user === undefined ? NO_CHANGES : changesSince(content, approvals);
  return { kind: "consent", handle, content, cookies, user, changes };
}

/**
 * Asks anew where somebody else has signed in than the page named. Its approval counts for nobody: the
 * person whom it named is not there, and the one who is there has not approved anything. The new
 * attempt has a handle of its own, so that the earlier page, which a browser may still show, is worth
 * nothing.
 */
export async function askOtherPerson(
  context: AuthContext,
  request: Request,
  answered: AuthorizeContent,
  person: SignedInPerson,
): Promise<ConsentQuestion> {
  const { approved: _, departure: __, ...asked } = answered;
  const { id } = person.user;
  const approvals = await context.store.ofUser(id).approvals.list(id);
  const content = { ...asked, startedAt: Date.now() };
  const question = await askForConsent(context, request, content, { person, approvals });
  return { ...question, isOtherPerson: true };
}
