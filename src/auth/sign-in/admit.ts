/** Identifies the person at the browser, and signs in one whom a provider has identified. */

import { seal } from "../../lib/seal.ts";
import { auditLine } from "../../observability/audit.ts";
import { addressOf, type AuthContext } from "../context/context.ts";
import type { SignInRefused } from "../identity/provider.ts";
import { upkeepPurpose } from "../oauth/grants/grant-judge.ts";
import { sessionId } from "../store/browser-sessions.ts";
import type { SignedInUser } from "../store/users.ts";
import {
  type Marks,
  problem,
  type Problem,
  type ProblemKind,
  type SignedInPerson,
} from "./attempt.ts";
import {
  endSession,
  type Identified,
  identify,
  sessionCookie,
  type SignedIn,
  signedIn,
} from "./browser.ts";

interface Admitted {
  readonly kind: "admitted";
  readonly person: SignedInPerson;
  /** The cookies of the session that was opened. */
  readonly cookies: readonly string[];
}

/** Signs in a person: their user record, and a session of this browser. */
export async function admit(
  context: AuthContext,
  request: Request,
  { provider, result }: Identified,
  marks: Marks = {},
): Promise<Admitted | Problem> {
  if (result.kind === "refused") return refuseSignIn(context, request, { provider, result }, marks);
  const { identity, upkeep, codeMac, authTime } = result;
  const { isAdmin, ...known } = identity;
  const secrets = await context.secrets();
  const id = await secrets.userId(identity.issuer, identity.subject);
  const kept = codeMac === undefined ? {} : { codeMac };
  const record: SignedInUser = {
    ...known,
    ...kept,
    id,
    provider,
    ...(upkeep !== undefined && { upkeep: await seal(secrets.ring, upkeepPurpose(id), upkeep) }),
  };
  const shard = context.store.ofUser(id);
  // A person who knew an earlier code may have approved applications of theirs, which the person
  // with the new code has not seen. They are deleted first: an interrupted sign-in repeats the
  // deletion.
  if ((await shard.users.find(id))?.codeMac !== codeMac) await shard.approvals.forgetAll(id);
  const user = await shard.users.signedIn(record);
  const address = addressOf(request);
  if (user.isDisabled) {
    const detail = "The person was disabled by an administrator.";
    const step = { kind: "sign_in_refused", provider, reason: "disabled", detail } as const;
    const reference = context.trace({ ...step, ...marks });
    await shard.audit.append(id, "sign_in_denied", { provider, address, reason: "disabled" });
    return problem("disabled", { reference });
  }
  const agent = request.headers.get("user-agent") ?? "";
  const authenticatedAt = authTime * 1000;
  const [secret] = await Promise.all([
    shard.sessions.open(id, { authenticatedAt, agent, ...kept }),
    shard.audit.append(id, "signed_in", { provider, address }),
    // The session that the browser had before is ended (session fixation).
    endSession(context, request),
  ]);
  context.trace({ kind: "signed_in", provider, user: id, ...marks });
  const cookies = [sessionCookie(secret, context)];
  const session = await sessionId(secret);
  const person: SignedInPerson = { user: { ...user, isAdmin }, session, authenticatedAt, ...kept };
  return { kind: "admitted", person, cookies };
}

const PROBLEMS: Readonly<Partial<Record<string, ProblemKind>>> = {
  "not-allowed": "not-allowed",
  "bad-state": "bad-return",
  "provider-unreachable": "provider-unreachable",
  "not-fresh": "not-fresh",
};

/** A provider's refusal as the page shows it: the detail is for the operator. */
export function refuseSignIn(
  context: AuthContext,
  request: Request,
  {
    provider,
    result: { reason, detail },
  }: { readonly provider: string; readonly result: SignInRefused },
  marks: Marks = {},
): Problem {
  const reference = context.trace({ kind: "sign_in_refused", provider, reason, detail, ...marks });
  auditLine("", "sign_in_denied", { provider, reason, address: addressOf(request), reference });
  return problem(PROBLEMS[reason] ?? "provider-failed", { reference });
}

interface Presence {
  readonly kind: "presence";
  /** The signed-in person. */
  readonly person?: SignedInPerson;
  /** The cookies of a session that was opened just now. */
  readonly cookies: readonly string[];
}

/**
 * Identifies the person for whom a page is requested: by the session, or by a proxy in front of the
 * gateway. A person who has passed the proxy anew since the session began has signed in anew.
 *
 * @returns a problem when the person is identified but not admitted.
 */
export async function whoIsThere(
  context: AuthContext,
  request: Request,
): Promise<Presence | Problem> {
  const found = await signedIn(context, request);
  if (found !== undefined && !hasPassedAnew(found)) {
    const { user, session } = found;
    const { id, authenticatedAt, codeMac } = session;
    const kept = codeMac !== undefined && { codeMac };
    const person = { user, session: id, authenticatedAt, ...kept };
    return { kind: "presence", person, cookies: [] };
  }
  const identified = found === undefined ? await identify(context, request) : found.identified;
  if (identified === undefined) return { kind: "presence", cookies: [] };
  const admitted = await admit(context, request, identified);
  return admitted.kind === "problem" ? admitted : { ...admitted, kind: "presence" };
}

function hasPassedAnew({ identified, session }: SignedIn): boolean {
  if (identified?.result.kind !== "identity") return false;
  return identified.result.authTime * 1000 > session.authenticatedAt;
}
