/**
 * The pages on the way to a sign-in and out of it: `/authorize`, `/login`, `/callback/<provider>`,
 * `/setup` and `/logout`. What happens is decided in `src/auth`; here its outcome becomes the browser's
 * response.
 */

import type { AuthContext } from "../auth/context/context.ts";
import { authorize } from "../auth/oauth/endpoints/authorize.ts";
import { attemptExpired, attemptMark } from "../auth/sign-in/held-attempt.ts";
import {
  endSession,
  identify,
  isForeign,
  NO_SESSION_COOKIE,
  readForm,
  signedIn,
} from "../auth/sign-in/browser.ts";
import { askSomebodyElse, decide } from "../auth/sign-in/decide.ts";
import type {
  Complaint,
  ConsentQuestion,
  ReturnLink,
  SignInOutcome,
  SignInQuestion,
} from "../auth/sign-in/attempt.ts";
import { enterSignIn, handleCallback, logIn } from "../auth/sign-in/log-in.ts";
import { randomSecret } from "../lib/random.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import type { SiteContext } from "./account-context.ts";
import { consentModel } from "./consent-model.ts";
import { audited, foreignForm, submitted } from "./page-guard.ts";
import { problemPage } from "./problems.ts";
import { formActionsFor, page, seeOther } from "./respond.ts";
import { consentView } from "./view/consent-view.ts";
import { PATHS } from "./view/paths.ts";
import { problemView, type ProxySession, signedOutView } from "./view/problem-view.ts";
import { type OwnerForm, setupDoneView, setupView, signInView } from "./view/sign-in-view.ts";
import { providerTitle } from "./words.ts";

/** An application requests access. */
export async function showAuthorize(context: AuthContext, request: Request): Promise<Response> {
  return answer(context, await authorize(context, request));
}

/** The person answers. */
export const answerAuthorize = attemptForm(decide);

/** "Not you?" */
export const switchAccount = attemptForm(askSomebodyElse);

/** A person comes to sign in, on the way to an application or to the gateway's own pages. */
export async function showLogin(context: AuthContext, request: Request): Promise<Response> {
  return answer(context, await enterSignIn(context, request));
}

export const answerLogin = attemptForm(logIn);

const CALLBACK = /^\/callback\/([a-z0-9-]{1,24})$/;

/** An identity provider redirects the browser back. */
export async function showCallback(context: AuthContext, request: Request): Promise<Response> {
  const [, name = ""] = CALLBACK.exec(new URL(request.url).pathname) ?? [];
  return answer(context, await handleCallback(context, request, name));
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
function attemptForm(act: Act) {
  return async (context: AuthContext, request: Request): Promise<Response> => {
    const isOther = isForeign(request, context.origin);
    const form = isOther ? undefined : await readForm(request);
    if (form !== undefined) return answerForm(context, () => act(context, request, form));
    const mark = await attemptMark(request, null);
    return answer(context, attemptExpired(context, isOther ? "foreign-origin" : "malformed", mark));
  };
}

/** A step that failed can be taken again, and only a page can say so. */
async function answerForm(
  context: AuthContext,
  act: () => Promise<SignInOutcome>,
): Promise<Response> {
  try {
    return await answer(context, await act());
  } catch (error) {
    return problemPage(context, { problem: "failed", reference: logUnexpected(error) });
  }
}

/** The owner of a new gateway gets a code, with a link that works once. */
export async function showSetup(context: AuthContext, request: Request): Promise<Response> {
  const token = new URL(request.url).searchParams.get("token") ?? "";
  if (!(await context.setup().isSetupToken(token)))
    return problemPage(context, { problem: "setup-gone" });
  return page(setupView({ handle: token, nonce: randomSecret() }), context);
}

/** Accepts the handle from the link: the person who has it is the owner. */
export async function finishSetup(context: AuthContext, request: Request): Promise<Response> {
  if (isForeign(request, context.origin)) return problemPage(context, { problem: "foreign-form" });
  const form = await readForm(request);
  if (form === undefined) return problemPage(context, { problem: "no-form" });
  const code = await context.setup().finishSetup(form.get("handle") ?? "", form.get("nonce") ?? "");
  if (code === undefined) return problemPage(context, { problem: "setup-gone" });
  return page(setupDoneView(code), context);
}

/**
 * Ends the browser's session, and nothing of the applications. It requires a POST, so that no link
 * or image signs a person out.
 */
export async function signOut(context: SiteContext, request: Request): Promise<Response> {
  if (request.method !== "POST") return seeOther(PATHS.account, context);
  // A form from another site comes without the cookie, so it has no session; the browser may have
  // one.
  if (isForeign(request, context.origin)) return foreignForm(context);
  // A person whose session has ended meanwhile is signed out already.
  const who = await signedIn(context, request);
  return who === undefined ? signedOut(context, request) : endOwnSession(context, request);
}

const endOwnSession = submitted({ path: PATHS.account }, async (context, { who }, request) => {
  await endSession(context, request);
  await audited(context, request, who.user.id, "signed_out");
  return signedOut(context, request);
});

async function signedOut(context: AuthContext, request: Request): Promise<Response> {
  const { origin } = context;
  const headers = new Headers({
    "Set-Cookie": NO_SESSION_COOKIE,
    // Not `cookies`: that would also clear those of every other host of the domain.
    "Clear-Site-Data": '"storage"',
  });
  return page(signedOutView(await proxySession(context, request)), { origin, headers });
}

/** The session at a proxy in front of the pages, which a sign-out here does not end. */
async function proxySession(
  context: AuthContext,
  request: Request,
): Promise<ProxySession | undefined> {
  const identified = await identify(context, request);
  if (identified?.result.kind !== "identity") return undefined;
  const provider = context.providers.get(identified.provider);
  if (provider?.kind !== "header") return undefined;
  return { title: providerTitle(provider), href: provider.signOutUrl };
}

async function answer(context: AuthContext, outcome: SignInOutcome): Promise<Response> {
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

/** The application receives the error only when the person follows the link. */
function returnPage({ origin }: AuthContext, { href, error, reference }: ReturnLink): Response {
  const returnTo = { href, host: new URL(href).host };
  if (error === "access_denied") {
    const view = problemView({
      title: "You said no",
      whatHappened: "The application gets no access.",
      whatToDo: ["You can close this page."],
      returnTo,
    });
    return page(view, { origin });
  }
  const view = problemView({
    title: "This application cannot be connected",
    whatHappened: "It has asked for access in a way that is not served here.",
    whatToDo: ["You can close this page, or go back and tell whoever makes the application."],
    reference,
    returnTo,
  });
  return page(view, { origin, status: 400 });
}

async function consentPage(context: AuthContext, question: ConsentQuestion): Promise<Response> {
  const { origin, authority } = context;
  const view = consentView(consentModel(question, authority.resources));
  const formActions = await formActionsOf(context, question.content.request.redirectUri);
  return page(view, { origin, formActions });
}

async function signInPage(
  context: AuthContext,
  { attempt: { handle, content }, complaint }: SignInQuestion,
): Promise<Response> {
  const { origin } = context;
  const providers = [...context.providers.values()];
  const client = content.kind === "authorize" ? content.client : undefined;
  const target = content.kind === "authorize" ? content.request.redirectUri : undefined;
  const { status = 200, ...owner } = complaint === undefined ? {} : complaintIn(complaint);
  const headers = new Headers();
  if (complaint?.kind === "wait") headers.set("Retry-After", String(complaint.seconds));
  const view = signInView({
    client,
    handle,
    providers: providers.filter(({ kind }) => kind === "redirect"),
    owner: providers.some(({ kind }) => kind === "code") ? owner : undefined,
  });
  return page(view, { origin, status, formActions: await formActionsOf(context, target), headers });
}

function complaintIn(complaint: Complaint): OwnerForm & { readonly status?: number } {
  switch (complaint.kind) {
    case "wrong-code":
      return { status: 403, error: "That is not the code." };
    case "wait":
      return { status: 429, waitSeconds: complaint.seconds };
    case "not-set-up":
      return {
        error:
          "There is no code yet. Whoever runs this gateway finds a link that makes one in its log.",
      };
  }
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
