/**
 * Handles `/login`: a person comes to sign in, on the way to an application or to the gateway's own
 * pages.
 */

import { logSetupLink } from "../../observability/setup-link.ts";
import { isFresh } from "./browser.ts";
import type { AuthContext } from "../context/context.ts";
import type { Attempt, VisitContent } from "./attempt.ts";
import { problem, redirect, withCookies } from "./ending.ts";
import { attemptExpired } from "./attempt-expired.ts";
import { attemptMark, HeldAttempt } from "./held-attempt.ts";
import { choices, redirectToProvider, onlyProvider } from "./redirect-to-provider.ts";
import { mayAsk } from "./sign-in-limits.ts";
import { newHandle, openAttempt } from "./open-attempt.ts";
import type { SignInOutcome, SignInQuestion } from "./sign-in-outcome.ts";
import { setupPath } from "../identity/owner-setup.ts";
import { whoIsThere } from "./present.ts";

const HOME = "/account";
/** Paths that lead back into the sign-in, or abandon the new session. */
const CIRCULAR = /^\/(?:login|logout|callback|setup|authorize)(?:\/|$)/;

/** @param request a GET of `/login`, with `attempt` for a waiting one, or with `to` and `fresh`. */
export async function enterSignIn(context: AuthContext, request: Request): Promise<SignInOutcome> {
  const { searchParams: query } = new URL(request.url);
  const handle = query.get("attempt");
  if (handle !== null) return goOn(context, request, handle);
  const to = localPath(query.get("to"), context.origin);
  const needsLogin = query.get("fresh") === "1";
  const there = await whoIsThere(context, request);
  if (there.kind === "problem") return there;
  const { person } = there;
  if (person !== undefined && (!needsLogin || isFresh(context, person))) {
    return withCookies(redirect(to), there.cookies);
  }
  const wait = await mayAsk(context, request);
  if (wait !== undefined) return problem("limited", { retryAfterSeconds: wait });
  if (choices(context).length === 0) {
    return problem(person === undefined ? "no-statement" : "not-fresh");
  }
  return begin(context, request, { kind: "visit", startedAt: Date.now(), needsLogin, to });
}

async function goOn(
  context: AuthContext,
  request: Request,
  handle: string,
): Promise<SignInOutcome> {
  const held = await HeldAttempt.of(context, request, handle);
  const mark = await attemptMark(request, handle);
  if (held === undefined) return attemptExpired(context, "other-browser", mark);
  const attempt = await held.find();
  if (attempt?.stage !== "login") return attemptExpired(context, "used", mark);
  return askWho(context, attempt);
}

async function begin(
  context: AuthContext,
  request: Request,
  content: VisitContent,
): Promise<SignInOutcome> {
  const attempt: Attempt = { ...(await newHandle()), stage: "login", content };
  const only = onlyProvider(context);
  if (only === undefined) {
    const cookies = await openAttempt(context, request, attempt);
    return withCookies(await askWho(context, attempt), cookies);
  }
  const { ending, next = attempt } = await redirectToProvider(context, request, attempt, only);
  return withCookies(ending, await openAttempt(context, request, { ...attempt, ...next }));
}

async function askWho(context: AuthContext, attempt: Attempt): Promise<SignInQuestion> {
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
