/** From what came of a step on the way to a sign-in to what the browser gets. */

import type { AuthContext } from "../auth/context/context.ts";
import type { Problem, ReturnLink } from "../auth/sign-in/ending.ts";
import type {
  ConsentQuestion,
  SignInOutcome,
  SignInQuestion,
} from "../auth/sign-in/sign-in-outcome.ts";
import { consentModel } from "./consent-model.ts";
import { formActionsFor } from "./form-action.ts";
import { PROBLEMS } from "./problems.ts";
import { page, seeOther } from "./respond.ts";
import { signInModel } from "./sign-in-model.ts";
import { consentView } from "./view/consent-view.ts";
import { problemView } from "./view/problem-view.ts";
import { signInView } from "./view/sign-in-view.ts";

export async function answer(context: AuthContext, outcome: SignInOutcome): Promise<Response> {
  const response = await answerTo(context, outcome);
  for (const cookie of outcome.cookies ?? []) response.headers.append("Set-Cookie", cookie);
  return response;
}

function answerTo(context: AuthContext, outcome: SignInOutcome): Response | Promise<Response> {
  switch (outcome.kind) {
    case "redirect":
      return seeOther(outcome.location, context);
    case "problem":
      return problemPage(context, outcome);
    case "return-link":
      return returnPage(context, outcome);
    case "consent":
      return consentPage(context, outcome);
    case "sign-in":
      return signInPage(context, outcome);
  }
}

export function problemPage(
  { origin }: Pick<AuthContext, "origin">,
  { problem, sentence, reference, retryAfterSeconds }: Omit<Problem, "kind">,
): Response {
  const { status, title, whatHappened, whatToDo } = PROBLEMS[problem];
  const view = problemView({
    ...{ title, whatToDo, reference, returnTo: undefined },
    whatHappened: sentence ?? whatHappened,
  });
  const headers = new Headers();
  if (retryAfterSeconds !== undefined) headers.set("Retry-After", String(retryAfterSeconds));
  return page(view, { origin, status, headers });
}

/** The application is told by whoever follows the link, and by nobody who does not. */
function returnPage({ origin }: AuthContext, { href, error, reference }: ReturnLink): Response {
  const isDenial = error === "access_denied";
  const view = problemView({
    title: isDenial ? "You said no" : "This application cannot be connected",
    whatHappened: isDenial
      ? "The application gets no access."
      : "It has asked for access in a way that is not served here.",
    whatToDo: isDenial
      ? ["You can close this page."]
      : ["You can close this page, or go back and tell whoever makes the application."],
    reference: isDenial ? undefined : reference,
    returnTo: { href, host: new URL(href).host },
  });
  return page(view, { origin, status: isDenial ? 200 : 400 });
}

async function consentPage(context: AuthContext, question: ConsentQuestion): Promise<Response> {
  const { origin, authority } = context;
  const view = consentView(consentModel(question, authority.resources));
  const formActions = await formActionsOf(context, question.content.request.redirectUri);
  return page(view, { origin, formActions });
}

async function signInPage(context: AuthContext, question: SignInQuestion): Promise<Response> {
  const { origin, providers } = context;
  const { attempt, complaint } = question;
  const { content } = attempt;
  const target = content.kind === "authorize" ? content.request.redirectUri : undefined;
  const headers = new Headers();
  if (complaint?.kind === "wait") headers.set("Retry-After", String(complaint.seconds));
  return page(signInView(signInModel(question, [...providers.values()])), {
    origin,
    status: statusOf(complaint?.kind),
    formActions: await formActionsOf(context, target),
    headers,
  });
}

function statusOf(complaint: "wrong-code" | "wait" | "not-set-up" | undefined): number {
  if (complaint === "wait") return 429;
  return complaint === "wrong-code" ? 403 : 200;
}

/**
 * Applications and providers lead on to pages of theirs ("You can close this window"), and browsers
 * hold the directive against each of these hops too, and block one silently. So any https address
 * may follow; what is left out is the rest of the network, in the clear.
 */
const ONWARD = "https:";

/** Where the answer to a form of these pages may lead: to the application, or to a provider. */
async function formActionsOf(
  { providers }: AuthContext,
  redirectUri: string | undefined,
): Promise<readonly string[]> {
  const ofProviders = [...providers.values()].flatMap((provider) =>
    provider.kind === "redirect" ? provider.formActions() : [],
  );
  const target = redirectUri === undefined ? [] : formActionsFor(redirectUri);
  return [...target, ...(await Promise.all(ofProviders)).flat(), ONWARD];
}
