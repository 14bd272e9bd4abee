/** Handles the answer on the sign-in page: a provider to go to, or the owner's code. */

import { addressOf, type AuthContext } from "../context/context.ts";
import type { CodeProvider } from "../identity/provider.ts";
import { refuseSignIn } from "./admit.ts";
import { marksOf } from "./attempt.ts";
import { welcome } from "./conclude.ts";
import { attemptExpired } from "./attempt-expired.ts";
import { attemptMark, HeldAttempt } from "./held-attempt.ts";
import { choices, redirectToProvider } from "./redirect-to-provider.ts";
import type { Complaint, SignInOutcome } from "./sign-in-outcome.ts";

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
  if (held === undefined) return attemptExpired(context, "other-browser", mark);
  const name = form.get("provider");
  const code = form.get("code");
  const provider = choices(context).find((each) =>
    name === null ? each.kind === "code" : each.kind === "redirect" && each.name === name,
  );
  if (provider?.kind === "redirect") {
    const ending = await held.step("login", (attempt) =>
      redirectToProvider(context, request, attempt, provider),
    );
    return ending ?? attemptExpired(context, "used", mark);
  }
  if (provider === undefined || code === null) return attemptExpired(context, "malformed", mark);
  return enter(context, request, { held, provider, code, mark });
}

interface Entry {
  readonly held: HeldAttempt;
  readonly provider: CodeProvider;
  readonly code: string;
  readonly mark: { readonly attempt?: string };
}

/**
 * Checks the code before it takes the step: a wrong one may be corrected. A code is checked, and
 * counted, only for an attempt that waits for it.
 */
async function enter(
  context: AuthContext,
  request: Request,
  { held, provider, code, mark }: Entry,
): Promise<SignInOutcome> {
  const attempt = await held.find();
  if (attempt?.stage !== "login")
    return (await held.again("login")) ?? attemptExpired(context, "used", mark);
  const { codeTries: tries } = context.store.ephemeral(TRIES_KEY);
  const address = addressOf(request);
  const seconds = await tries.begin(address, context.limits.codeTries);
  const checked = seconds === 0 ? await provider.check(code) : undefined;
  if (checked?.kind === "identity") {
    await tries.forgive(address);
    const identified = { provider: provider.name, result: checked };
    const ending = await held.step("login", (taken) =>
      welcome(context, request, { attempt: taken, identified, endCookie: held.endCookie }),
    );
    return ending ?? attemptExpired(context, "used", mark);
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
