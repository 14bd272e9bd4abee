/**
 * `/logout`: ends the browser's session, and nothing of the applications. It requires a POST, so
 * that no link or image signs a person out.
 */

import { endSession, isForeign, NO_SESSION_COOKIE, signedIn } from "../auth/sign-in/browser.ts";
import type { AuthContext } from "../auth/context/context.ts";
import { audited } from "./audited.ts";
import { submitted } from "./page-guard.ts";
import { foreignForm } from "./page-refusals.ts";
import { page, seeOther } from "./respond.ts";
import { signedOutView } from "./view/ends.ts";
import { PATHS } from "./view/paths.ts";

const end = submitted({ path: PATHS.account }, async (context, { who: { user } }, request) => {
  await endSession(context, request);
  await audited(context, request, user.id, ["signed_out"]);
  return signedOut(context);
});

export async function signOut(context: AuthContext, request: Request): Promise<Response> {
  if (request.method !== "POST") return seeOther(PATHS.account, context);
  // A form from another site comes without the cookie, so it has no session; the browser may have
  // one.
  if (isForeign(request, context.origin)) return foreignForm(context);
  // A person whose session has ended meanwhile is signed out already.
  return (await signedIn(context, request)) === undefined
    ? signedOut(context)
    : end(context, request);
}

function signedOut({ origin }: AuthContext): Response {
  const headers = new Headers({
    "Set-Cookie": NO_SESSION_COOKIE,
    // Not `cookies`: that would also clear those of every other host of the domain.
    "Clear-Site-Data": '"storage"',
  });
  return page(signedOutView(), { origin, headers });
}
