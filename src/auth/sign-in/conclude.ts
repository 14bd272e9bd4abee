/** What an attempt was for, once it is known who somebody is. */

import { isFresh } from "../browser.ts";
import type { AuthContext } from "../context.ts";
import { ADMIN } from "../scopes.ts";
import { admit } from "./admit.ts";
import { type Attempt, marksOf, type Settled } from "./attempt.ts";
import { type Ending, problem, redirect, withCookies } from "./ending.ts";
import { gone } from "./gone.ts";
import type { Identified } from "./identify.ts";
import { issueApproved } from "./issue.ts";
import type { Person } from "./person.ts";

export interface Arrival {
  readonly attempt: Attempt;
  /** Who it is, as a provider says. */
  readonly identified: Identified;
  /** Forgets the attempt in the browser. */
  readonly endCookie: string;
}

/** Lets somebody in, and goes on to what they came for. */
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

async function end(context: AuthContext, attempt: Attempt, person: Person): Promise<Ending> {
  const { content } = attempt;
  if (content.kind === "visit") return redirect(content.to);
  const { approved: scopes } = content;
  if (scopes === undefined) return gone(context, "used", marksOf(attempt));
  if (scopes.includes(ADMIN) && !isFresh(context, person)) {
    const detail = "The sign-in was too long ago for the operator's pages.";
    const step = { kind: "sign_in_refused", provider: person.user.provider } as const;
    const reference = context.trace({ ...step, ...marksOf(attempt), reason: "not-fresh", detail });
    return problem("not-fresh", { reference });
  }
  return issueApproved(context, { content, scopes, attempt: attempt.id }, person);
}
