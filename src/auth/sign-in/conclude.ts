/** Concludes an attempt once the person is identified. */

import { isFresh } from "./browser.ts";
import type { AuthContext } from "../context/context.ts";
import { ADMIN } from "../scopes.ts";
import { admit } from "./admit.ts";
import { type Attempt, marksOf, type Settled } from "./attempt.ts";
import { type Ending, problem, redirect, withCookies } from "./ending.ts";
import { attemptExpired } from "./attempt-expired.ts";
import type { Identified } from "./identify.ts";
import { issueApproved } from "./issue.ts";
import type { SignedInPerson } from "./signed-in-person.ts";

export interface Arrival {
  readonly attempt: Attempt;
  /** The person, as a provider identifies them. */
  readonly identified: Identified;
  /** The `Set-Cookie` that deletes the attempt's cookie. */
  readonly endCookie: string;
}

/** Signs a person in, and continues with what they came for. */
export async function welcome(
  context: AuthContext,
  request: Request,
  { attempt, identified, endCookie }: Arrival,
): Promise<Settled> {
  const admitted = await admit(context, request, identified, marksOf(attempt));
  if (admitted.kind === "problem") return { ending: withCookies(admitted, [endCookie]) };
  const ending = await end(context, attempt, admitted.person);
  return { ending: withCookies(ending, [...admitted.cookies, endCookie]) };
}

async function end(
  context: AuthContext,
  attempt: Attempt,
  person: SignedInPerson,
): Promise<Ending> {
  const { content } = attempt;
  if (content.kind === "visit") {
    // The action would only demand another sign-in, which the provider cannot prove.
    const isProven = !content.needsLogin || isFresh(context, person);
    return isProven ? redirect(content.to) : notFresh(context, attempt, person);
  }
  const { approved: scopes } = content;
  if (scopes === undefined) return attemptExpired(context, "used", marksOf(attempt));
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
