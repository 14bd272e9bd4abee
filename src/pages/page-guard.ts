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
import type { AuthContext } from "../auth/context/context.ts";
import { audited } from "./audited.ts";
import { adminsOnly, foreignForm, unreadableForm } from "./page-refusals.ts";
import { seeOther } from "./respond.ts";
import { PATHS } from "./view/paths.ts";

export type Handler = (context: AuthContext, request: Request) => Promise<Response>;

export interface PageGuard {
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
  show: (context: AuthContext, who: SignedIn, request: Request) => Promise<Response>,
): Handler {
  return async (context, request) => {
    const who = await signedIn(context, request);
    if (who === undefined) return signInFirst(context, new URL(request.url).pathname);
    if (guard.forAdmins === true && !who.user.isAdmin) return adminsOnly(context);
    return show(context, who, request);
  };
}

/** Wraps the action of a form of such a page. */
export function submitted(
  { path, forAdmins = false, isFresh: needsFresh = false }: PageGuard,
  act: (context: AuthContext, submission: Submission, request: Request) => Promise<Response>,
): Handler {
  return async (context, request) => {
    if (isForeign(request, context.origin)) return foreignForm(context);
    const who = await signedIn(context, request);
    if (who === undefined) return signInFirst(context, path);
    const form = await readForm(request);
    if (form === undefined) return unreadableForm(context);
    if (!hasFormToken(form, who)) {
      await audited(context, request, who.user.id, ["denied", { reason: "form token" }]);
      return foreignForm(context);
    }
    if (forAdmins && !who.user.isAdmin) {
      await audited(context, request, who.user.id, ["denied", { reason: "not an administrator" }]);
      return adminsOnly(context);
    }
    if (needsFresh && !isFresh(context, who.session)) return signInFirst(context, path, true);
    return act(context, { who, form }, request);
  };
}

function signInFirst(context: AuthContext, to: string, isFreshNeeded = false): Response {
  return seeOther(signInPath(to, isFreshNeeded), context);
}
