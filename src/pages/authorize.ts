/** `/authorize`: an application requests access, and the person answers. */

import { isForeign, readForm } from "../auth/sign-in/browser.ts";
import type { AuthContext } from "../auth/context/context.ts";
import { authorize } from "../auth/oauth/endpoints/authorize.ts";
import { askSomebodyElse, decide } from "../auth/sign-in/decide.ts";
import { attemptExpired } from "../auth/sign-in/attempt-expired.ts";
import { attemptMark } from "../auth/sign-in/held-attempt.ts";
import type { SignInOutcome } from "../auth/sign-in/sign-in-outcome.ts";
import { answer } from "./sign-in-answers.ts";

export async function showAuthorize(context: AuthContext, request: Request): Promise<Response> {
  return answer(context, await authorize(context, request));
}

type Act = (
  context: AuthContext,
  request: Request,
  form: URLSearchParams,
) => Promise<SignInOutcome>;

/**
 * Handles a form of an attempt: its handle and the attempt's cookie prove that it was sent on
 * purpose.
 */
export function attemptForm(act: Act) {
  return async (context: AuthContext, request: Request): Promise<Response> => {
    if (isForeign(request, context.origin)) {
      const mark = await attemptMark(request, null);
      return answer(context, attemptExpired(context, "foreign-origin", mark));
    }
    const form = await readForm(request);
    if (form !== undefined) return answer(context, await act(context, request, form));
    return answer(context, attemptExpired(context, "malformed", await attemptMark(request, null)));
  };
}

export const answerAuthorize = attemptForm(decide);

/** "Not you?" */
export const switchAccount = attemptForm(askSomebodyElse);
