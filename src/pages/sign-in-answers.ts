/** Turns the outcome of a step of a sign-in into the browser's response. */

import type { AuthContext } from "../auth/context/context.ts";
import type { IdentityProvider } from "../auth/identity/provider.ts";
import type { Problem, ReturnLink } from "../auth/sign-in/ending.ts";
import type {
  Complaint,
  ConsentQuestion,
  SignInOutcome,
  SignInQuestion,
} from "../auth/sign-in/sign-in-outcome.ts";
import { consentModel } from "./consent-model.ts";
import { formActionsFor } from "./form-action.ts";
import { PROBLEMS } from "./problems.ts";
import { page, seeOther } from "./respond.ts";
import { consentView } from "./view/consent-view.ts";
import { problemView } from "./view/problem-view.ts";
import { PATHS } from "./view/paths.ts";
import { type OwnerForm, type SignInView, signInView } from "./view/sign-in-view.ts";

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
    title,
    whatToDo,
    reference,
    returnTo: undefined,
    whatHappened: sentence ?? whatHappened,
  });
  const headers = new Headers();
  if (retryAfterSeconds !== undefined) headers.set("Retry-After", String(retryAfterSeconds));
  return page(view, { origin, status, headers });
}

/** The application receives the error only when the person follows the link. */
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
 * Applications and providers redirect on to pages of theirs ("You can close this window"), and
 * browsers check the directive for each of these redirects too, and block silently. So any https
 * address is allowed; only plain http to the rest of the network is not.
 */
const ONWARD = "https:";

/**
 * @returns the possible targets of the response to a form of these pages: the application, or a
 *   provider.
 */
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

function signInModel(
  { attempt, complaint }: SignInQuestion,
  providers: readonly IdentityProvider[],
): SignInView {
  const { handle, content } = attempt;
  const action = PATHS.login;
  return {
    client: content.kind === "authorize" ? { name: content.client.name } : undefined,
    handle,
    providers: providers
      .filter(({ kind }) => kind === "redirect")
      .map(({ name, label }) => ({ name, label, action })),
    owner: providers.some(({ kind }) => kind === "code")
      ? { action, ...complaintIn(complaint) }
      : undefined,
  };
}

function complaintIn(complaint: Complaint | undefined): Omit<OwnerForm, "action"> {
  switch (complaint?.kind) {
    case "wrong-code":
      return { error: "That is not the code.", waitSeconds: undefined };
    case "wait":
      return { error: undefined, waitSeconds: complaint.seconds };
    case "not-set-up":
      return {
        error:
          "There is no code yet. Whoever runs this gateway finds a link that makes one in its log.",
        waitSeconds: undefined,
      };
    case undefined:
      return { error: undefined, waitSeconds: undefined };
  }
}
