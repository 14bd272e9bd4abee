/**
 * A visit to the pages of whoever runs the gateway: an administrator who is signed in, or the person at the machine
 * where there is no sign-in. A GET changes nothing; a form has to come from a page of ours.
 */

import type { OperatorContext, SiteContext } from "./account-context.ts";
import { attentionOf, type Reader } from "./attention-facts.ts";
import { adminsOnly, signInAgain, signInFirst } from "./page-guard.ts";
import { auditedAs, navFor, type PageVisitor, sentForm, visitorOf } from "./page-visitor.ts";
import type { Nav } from "./view/layout.ts";

/** @param slug of the server that the path names; empty where it names none. */
export type OperatorHandler = (
  context: OperatorContext,
  request: Request,
  slug: string,
) => Promise<Response>;

export interface OperatorVisit {
  readonly context: OperatorContext;
  readonly request: Request;
  readonly slug: string;
  readonly visitor: PageVisitor;
}

/** Wraps a page. */
export function operating(show: (visit: OperatorVisit) => Promise<Response>): OperatorHandler {
  return async (context, request, slug) => {
    const visitor = await visitorOf(context, request);
    if (visitor === undefined) return signInFirst(context, request);
    if (!visitor.isAdmin) return adminsOnly(context);
    return show({ context, request, slug, visitor });
  };
}

export interface OperatorSubmission extends OperatorVisit {
  readonly form: URLSearchParams;
}

/** The size of a form with a paste in it, of which each byte may be three, and more when it is sealed. */
export const PASTE_BYTES = 512 * 1024;

/**
 * Wraps the action of a form.
 *
 * @param pathOf the page of the form, to return to after a sign-in.
 */
export function operated(
  pathOf: (slug: string) => string,
  act: (submission: OperatorSubmission) => Promise<Response>,
  maxBytes?: number,
): OperatorHandler {
  return async (context, request, slug) => {
    const sent = await sentForm(context, request, pathOf(slug), maxBytes);
    if (sent instanceof Response) return sent;
    if (!sent.visitor.isAdmin) {
      const reason = "not an administrator";
      await auditedAs(context, request, sent.visitor, "denied", { reason });
      return adminsOnly(context);
    }
    return act({ context, request, slug, ...sent });
  };
}

/** The same for an action that others notice, or that uses secrets: it needs a new sign-in. */
export function operatedFreshly(
  pathOf: (slug: string) => string,
  act: (submission: OperatorSubmission) => Promise<Response>,
  maxBytes?: number,
): OperatorHandler {
  const fresh = async (submission: OperatorSubmission): Promise<Response> => {
    const { context, visitor, slug } = submission;
    if (!visitor.isFresh) return signInAgain(context, pathOf(slug));
    return act(submission);
  };
  return operated(pathOf, fresh, maxBytes);
}

/** The same context, of a page that only people who are signed in have. */
export function operatorOf(context: SiteContext): OperatorContext {
  const { origin, accounts, servers, publishers } = context;
  return { origin, accounts, servers, publishers, auth: context };
}

export function readerOf({ person, user }: PageVisitor): Reader {
  // The person at the machine has no record.
  if (user === undefined) return { person, hasAccounts: true, publishes: true };
  return { person, hasAccounts: user.hasAccounts === true, publishes: user.publishes === true };
}

/** The navigation of a page of servers, with how many things need somebody. */
export async function adminNav({ context, visitor }: OperatorVisit): Promise<Nav> {
  const items = await attentionOf(context, readerOf(visitor));
  return navFor(visitor, "admin", items.length);
}
