/**
 * Sends a request as an account: with the credential that its vault has at that moment, and once more where
 * the server refuses the credential. A 401 is given before a request runs (MCP, authorization: tokens are
 * validated first), so the one repetition runs nothing twice.
 */

import { type BearerChallenge, parseBearerChallenge } from "../protocol/bearer-challenge.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import type { AccountNeed, Credential, Credentials, UsableCredential } from "./credentials.ts";
import type { UpstreamTarget } from "./target.ts";
import { UpstreamError } from "./upstream-error.ts";

/** The account that a session was opened with: with another one, its id would be another's session. */
export interface SessionAccount {
  accountId?: string;
}

export interface AccountRequest {
  readonly target: Pick<UpstreamTarget, "slug">;
  readonly credentials: Credentials;
  /** Of the session that the request belongs to, if there is one. */
  readonly account?: SessionAccount | undefined;
  readonly signal: AbortSignal;
  readonly send: (credential: UsableCredential) => Promise<Response>;
}

/** The server has repeated its refusal though the vault gave another credential. */
const REFUSED_AGAIN: AccountNeed = { kind: "need", need: "later", reason: "refused" };
/** The vault's object restarts, or is of a version that is being replaced. */
const NOT_ASKED: AccountNeed = { kind: "need", need: "later", reason: "vault-unavailable" };

/**
 * @returns the response to the credential: never 401, nor 403 with `insufficient_scope`.
 * @throws UpstreamError `account` when there is no credential to send, or none that the server takes;
 *   `session-lost` when the session is of another account.
 */
export async function sendWithAccount(request: AccountRequest): Promise<Response> {
  const { credentials, send } = request;
  const current = usable(request, await ask(request, () => credentials.current()));
  const response = await send(current);
  if (response.status !== 401) return settled(request, current, response);
  const newer = usable(request, await refused(request, current, response));
  const again = await send(newer);
  if (again.status !== 401) return settled(request, newer, again);
  const last = await refused(request, newer, again);
  throw needsAccount(request.target.slug, last.kind === "need" ? last : REFUSED_AGAIN);
}

async function refused(
  request: AccountRequest,
  credential: UsableCredential,
  response: Response,
): Promise<Credential> {
  const challenge = challengeOf(response);
  await response.body?.cancel();
  return ask(request, () => request.credentials.refused(credential, challenge));
}

async function settled(
  request: AccountRequest,
  credential: UsableCredential,
  response: Response,
): Promise<Response> {
  if (response.status !== 403) return response;
  const challenge = challengeOf(response);
  // Any other refusal is the server's own answer.
  if (challenge?.error !== "insufficient_scope") return response;
  await response.body?.cancel();
  // A refresh cannot widen what an account allows (RFC 6749 section 6).
  const need = await ask(request, () => request.credentials.lacking(credential, challenge));
  throw needsAccount(request.target.slug, need);
}

/**
 * Asks the vault. It finishes what it has begun, also for a caller that leaves.
 *
 * @throws UpstreamError `account` when it cannot be asked: without a credential there is no request.
 */
async function ask<T>({ target, signal }: AccountRequest, answer: () => Promise<T>): Promise<T> {
  try {
    return await unlessAborted(answer(), signal);
  } catch (error) {
    signal.throwIfAborted();
    logUnexpected(error);
    throw needsAccount(target.slug, NOT_ASKED);
  }
}

function challengeOf({ headers }: Response): BearerChallenge | undefined {
  return parseBearerChallenge(headers.get("www-authenticate"));
}

function usable({ target, account }: AccountRequest, credential: Credential): UsableCredential {
  if (credential.kind === "need") throw needsAccount(target.slug, credential);
  if (account === undefined) return credential;
  account.accountId ??= credential.accountId;
  if (account.accountId === credential.accountId) return credential;
  throw new UpstreamError(target.slug, "session-lost", "has a session of another account");
}

/** What the person who calls has to do, in words that quote nobody. */
const SENTENCES: Readonly<Record<AccountNeed["need"], string>> = {
  connect: "needs you to connect your account",
  scope: "needs you to allow more to your connected account",
  operator: "has no working account; only the operator of the gateway can connect it",
  later: "cannot be used with your account at the moment; try again in a minute",
  forbidden: "does not allow this to your account; connecting it again would not help",
};

function needsAccount(slug: string, need: AccountNeed): UpstreamError {
  return new UpstreamError(slug, "account", SENTENCES[need.need], { need });
}
