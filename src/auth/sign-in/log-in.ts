/**
 * `/login` and `/callback/<provider>`: a person comes to sign in, on the way to an application or to
 * the gateway's own pages; enters the owner's code, or goes to a provider and comes back; and goes on
 * to what they came for.
 */

import { logSetupLink } from "../../observability/gateway-log.ts";
import { addressOf, type AuthContext } from "../context/context.ts";
import { setupPath } from "../identity/owner-code.ts";
import type { CodeProvider } from "../identity/provider.ts";
import { ADMIN } from "../scopes.ts";
import type { AttemptRefusal } from "../trace/trace.ts";
import { admit, refuseSignIn, whoIsThere } from "./admit.ts";
import { askOtherPerson } from "./ask-for-consent.ts";
import {
  type Attempt,
  type Complaint,
  type Ending,
  marksOf,
  problem,
  redirect,
  type Settled,
  type SignedInPerson,
  type SignInOutcome,
  type SignInQuestion,
  type StepOutcome,
  type VisitContent,
  withCookies,
} from "./attempt.ts";
import { type Identified, isFresh, isFreshForForm } from "./browser.ts";
import {
  attemptExpired,
  attemptMark,
  HeldAttempt,
  newHandle,
  openAttempt,
} from "./held-attempt.ts";
import { issueApproved } from "./issue.ts";
import {
  callbackOf,
  choices,
  noWayToSignIn,
  onlyProvider,
  redirectToProvider,
} from "./redirect-to-provider.ts";
import { mayAsk } from "./sign-in-limits.ts";

const HOME = "/account";
/** Paths that lead back into the sign-in, or abandon the new session. */
const CIRCULAR = /^\/(?:login|logout|callback|setup|authorize)(?:\/|$)/;

/** @param request a GET of `/login`, with `attempt` for a waiting one, or with `to` and `fresh`. */
export async function enterSignIn(context: AuthContext, request: Request): Promise<SignInOutcome> {
  const { searchParams: query } = new URL(request.url);
  const handle = query.get("attempt");
  if (handle !== null) return resume(context, request, handle);
  const to = localPath(query.get("to"), context.origin);
  const needsLogin = query.get("fresh") === "1";
  const there = await whoIsThere(context, request);
  if (there.kind === "problem") return there;
  const { person } = there;
  // A form may have led here that is only given out while the sign-in is good for longer.
  const isEnough = person !== undefined && (!needsLogin || isFreshForForm(context, person));
  const outcome = isEnough
    ? redirect(to)
    : await demandSignIn(context, request, { needsLogin, to }, person);
  return withCookies(outcome, there.cookies);
}

/** @param person the signed-in person, if there is one, whose sign-in is not enough. */
async function demandSignIn(
  context: AuthContext,
  request: Request,
  visit: Pick<VisitContent, "needsLogin" | "to">,
  person: SignedInPerson | undefined,
): Promise<SignInOutcome> {
  const wait = await mayAsk(context, request);
  if (wait !== undefined) return problem("limited", { retryAfterSeconds: wait });
  const ending = noWayToSignIn(context, person);
  return ending ?? begin(context, request, { kind: "visit", startedAt: Date.now(), ...visit });
}

/** Shows the page of an attempt that waits for a sign-in. */
async function resume(
  context: AuthContext,
  request: Request,
  handle: string,
): Promise<SignInOutcome> {
  const held = await HeldAttempt.of(context, request, handle);
  const mark = await attemptMark(request, handle);
  if (typeof held === "string") return attemptExpired(context, held, mark);
  const attempt = await held.find();
  if (attempt?.stage !== "login") return attemptExpired(context, "used", mark);
  return askToSignIn(context, attempt);
}

async function begin(
  context: AuthContext,
  request: Request,
  content: VisitContent,
): Promise<SignInOutcome> {
  const attempt: Attempt = { ...(await newHandle()), stage: "login", content };
  // A form leads here that takes a new sign-in. Its page has `form-action 'self'`, which browsers apply to each redirect
  // that follows (CSP3 section 6.4.1.1): they would block the way to another origin, and say nothing.
  const only = content.needsLogin ? undefined : onlyProvider(context);
  if (only === undefined) {
    const cookies = await openAttempt(context, request, attempt);
    return withCookies(await askToSignIn(context, attempt), cookies);
  }
  const { ending, next = attempt } = await redirectToProvider(context, request, attempt, only);
  return withCookies(ending, await openAttempt(context, request, { ...attempt, ...next }));
}

async function askToSignIn(context: AuthContext, attempt: Attempt): Promise<SignInQuestion> {
  const question = { kind: "sign-in", attempt } as const;
  for (const provider of choices(context)) {
    if (provider.kind !== "code" || (await provider.hasCode())) continue;
    await offerSetup(context);
    return { ...question, complaint: { kind: "not-set-up" } };
  }
  return question;
}

/** Logs the setup link where only the operator can read it, once for as long as the link works. */
async function offerSetup({ setup, origin }: AuthContext): Promise<void> {
  const token = await setup().beginSetup();
  if (token !== undefined) logSetupLink(origin + setupPath(token));
}

/**
 * Accepts paths of this gateway alone as the page to go to after a sign-in.
 *
 * @param to a value of the query, which anyone can have written.
 */
function localPath(to: string | null, origin: string): string {
  // Browsers read a backslash as a slash, and drop tabs and line breaks.
  if (to === null || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(to)) return HOME;
  const url = URL.canParse(to, origin) ? new URL(to, origin) : undefined;
  if (url?.origin !== origin || CIRCULAR.test(url.pathname)) return HOME;
  // `/.//host` is a local path, but its resolved form `//host` is the address of another host.
  if (url.pathname.startsWith("//")) return HOME;
  return url.pathname + url.search;
}

/** The one key under which all tries are counted together. */
const TRIES_KEY = "code-tries";

/** @param form the form of this attempt's page. */
export async function logIn(
  context: AuthContext,
  request: Request,
  form: URLSearchParams,
): Promise<SignInOutcome> {
  const held = await HeldAttempt.of(context, request, form.get("handle"));
  const mark = await attemptMark(request, form.get("handle"));
  if (typeof held === "string") return attemptExpired(context, held, mark);
  const name = form.get("provider");
  const code = form.get("code");
  const provider = choices(context).find((each) =>
    name === null ? each.kind === "code" : each.kind === "redirect" && each.name === name,
  );
  if (provider?.kind === "redirect") {
    const ending = await held.step("login", async (attempt) => ({
      next: attempt,
      ...(await redirectToProvider(context, request, attempt, provider)),
    }));
    return ending ?? attemptExpired(context, "used", mark);
  }
  if (provider === undefined || code === null) return attemptExpired(context, "malformed", mark);
  const ending = await enterCode(context, request, held, { provider, code });
  return ending ?? attemptExpired(context, "used", mark);
}

/**
 * Checks the code before it takes the step: a wrong one may be corrected. A code is checked, and
 * counted, only for an attempt that waits for it.
 */
async function enterCode(
  context: AuthContext,
  request: Request,
  held: HeldAttempt,
  { provider, code }: { readonly provider: CodeProvider; readonly code: string },
): Promise<SignInOutcome | undefined> {
  const waiting = await held.find();
  const repeated = waiting?.stage === "login" ? undefined : await held.again("login");
  if (repeated !== undefined) return repeated;
  // A step that failed meanwhile is free again.
  const attempt = waiting ?? (await held.find());
  if (attempt?.stage !== "login") return undefined;
  const { codeTries: tries } = context.store.ephemeral(TRIES_KEY);
  const address = addressOf(request);
  const seconds = await tries.begin(address, context.limits.codeTries);
  const checked = seconds === 0 ? await provider.check(code) : undefined;
  if (checked?.kind === "identity") {
    await tries.forgive(address);
    const identified = { provider: provider.name, result: checked };
    return held.step("login", (taken) => conclude(context, request, { held, taken, identified }));
  }
  const detail = "There were too many wrong codes.";
  const result = checked ?? ({ kind: "refused", reason: "limited", detail } as const);
  refuseSignIn(context, request, { provider: provider.name, result }, marksOf(attempt));
  return { kind: "sign-in", attempt, complaint: complaintOf(result.reason, seconds) };
}

function complaintOf(reason: string, seconds: number): Complaint {
  if (seconds > 0) return { kind: "wait", seconds };
  return { kind: reason === "not-set-up" ? "not-set-up" : "wrong-code" };
}

/**
 * Handles the redirect back from a provider. Its parameters are read only if they belong to an
 * attempt of this browser that was sent to this provider (mix-up: RFC 9207, RFC 9700 section 4.4),
 * and only once: no provider is asked about anything else.
 *
 * @param name the provider's name in the path.
 */
export async function handleCallback(
  context: AuthContext,
  request: Request,
  name: string,
): Promise<StepOutcome> {
  const { pathname, search, searchParams } = new URL(request.url);
  const [state = null, ...others] = searchParams.getAll("state");
  const handle = others.length === 0 ? state : null;
  const held = await HeldAttempt.of(context, request, handle);
  const mark = await attemptMark(request, handle);
  if (typeof held === "string") return refuseCallback(context, held, mark);
  const waiting = await held.find();
  const provider = context.providers.get(name);
  if (waiting?.stage !== "login") return refuseCallback(context, "used", mark);
  if (provider?.kind !== "redirect" || waiting.content.departure?.provider !== name) {
    return refuseCallback(context, "malformed", mark);
  }
  const finish = async (attempt: Attempt): Promise<Settled> => {
    const { handle, content } = attempt;
    const result = await provider.finish({
      url: new URL(pathname + search, context.origin),
      state: handle,
      callback: callbackOf(context, provider),
      memory: content.departure?.memory ?? {},
    });
    const identified = { provider: name, result };
    return conclude(context, request, { held, taken: attempt, identified });
  };
  // The provider accepts its code once.
  const ending = await held.step("login", finish, { isOnce: true });
  return ending ?? refuseCallback(context, "used", mark);
}

function refuseCallback(
  { trace }: Pick<AuthContext, "trace">,
  reason: AttemptRefusal,
  mark: { readonly attempt?: string },
): Ending {
  return problem("bad-return", { reference: trace({ kind: "attempt_refused", reason, ...mark }) });
}

interface Identification {
  readonly held: HeldAttempt;
  readonly taken: Attempt;
  readonly identified: Identified;
}

/** Signs in the person whom a provider identified, and goes on to what they came for. */
async function conclude(
  context: AuthContext,
  request: Request,
  { held: { endCookie }, taken, identified }: Identification,
): Promise<Settled> {
  const admitted = await admit(context, request, identified, marksOf(taken));
  if (admitted.kind === "problem") return { ending: withCookies(admitted, [endCookie]) };
  const ending = await goOn(context, request, taken, admitted.person);
  return { ending: withCookies(ending, [...admitted.cookies, endCookie]) };
}

async function goOn(
  context: AuthContext,
  request: Request,
  attempt: Attempt,
  person: SignedInPerson,
): Promise<StepOutcome> {
  const { content } = attempt;
  if (content.kind === "visit") {
    // The action would only demand another sign-in, which the provider cannot prove.
    const isProven = !content.needsLogin || isFresh(context, person);
    return isProven ? redirect(content.to) : notFresh(context, attempt, person);
  }
  const { approved: scopes, shownTo } = content;
  if (scopes === undefined) return attemptExpired(context, "used", marksOf(attempt));
  // A provider with single sign-on names whoever is signed in there, and asks nobody.
  if (shownTo !== undefined && shownTo !== person.user.id) {
    return askOtherPerson(context, request, content, person);
  }
  if (scopes.includes(ADMIN) && !isFresh(context, person)) {
    return notFresh(context, attempt, person);
  }
  return issueApproved(context, { content, scopes, attempt: attempt.id }, person);
}

function notFresh(context: AuthContext, attempt: Attempt, { user }: SignedInPerson): Ending {
  const detail = "The provider does not say that the person has signed in just now (auth_time).";
  const step = { kind: "sign_in_refused", provider: user.provider } as const;
  const reference = context.trace({ ...step, ...marksOf(attempt), reason: "not-fresh", detail });
  return problem("not-fresh", { reference });
}
