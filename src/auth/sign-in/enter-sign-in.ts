/** Somebody comes to sign in: on the way to an application, or to the gateway's own pages. */

import { logSetupLink } from "../../observability/setup-link.ts";
import { isFresh } from "./browser.ts";
import type { AuthContext } from "../context/context.ts";
import type { Attempt, VisitContent } from "./attempt.ts";
import { problem, redirect, withCookies } from "./ending.ts";
import { attemptExpired } from "./attempt-expired.ts";
import { attemptMark, HeldAttempt } from "./held-attempt.ts";
import { choices, redirectToProvider, onlyProvider } from "./redirect-to-provider.ts";
import { mayAsk } from "./sign-in-limits.ts";
import { localPath } from "./local-path.ts";
import { newHandle, openAttempt } from "./open-attempt.ts";
import type { SignInOutcome, SignInQuestion } from "./sign-in-outcome.ts";
import { setupPath } from "../identity/owner-setup.ts";
import { whoIsThere } from "./present.ts";

/** @param request GET of `/login`, with `attempt` of one that waits, or with `to` and `fresh`. */
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

/** @param isWrong what was given just now. */
async function askWho(context: AuthContext, attempt: Attempt): Promise<SignInQuestion> {
  const question = { kind: "sign-in", attempt } as const;
  for (const provider of choices(context)) {
    if (provider.kind !== "code" || (await provider.hasCode())) continue;
    await offerSetup(context);
    return { ...question, complaint: { kind: "not-set-up" } };
  }
  return question;
}

/** Where only the operator reads, and once for as long as the link works. */
async function offerSetup({ setup, origin }: AuthContext): Promise<void> {
  const token = await setup.beginSetup();
  if (token !== undefined) logSetupLink(origin + setupPath(token));
}
