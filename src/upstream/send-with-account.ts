/**
 * Sends a request as an account: with the credential that its vault has at that moment, and once more where
 * the server refuses the credential and there is a newer one. Both refusals are given before a request runs
 * (401, MCP, authorization: tokens are validated first; 403 with `insufficient_scope`, RFC 6750 section 3.1),
 * so the one repetition runs nothing twice.
 */

import { parseBearerChallenge } from "../protocol/bearer-challenge.ts";
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
  const refusal = await judge(request, current, response);
  if (refusal === undefined) return response;
  const newer = usable(request, refusal);
  const again = await send(newer);
  const last = await judge(request, newer, again);
  if (last === undefined) return again;
  throw needsAccount(request.target.slug, last.kind === "need" ? last : REFUSED_AGAIN);
}

/** @returns what the vault says to a refusal of the credential; `undefined` for the server's own answer. */
async function judge(
  request: AccountRequest,
  credential: UsableCredential,
  { status, headers, body }: Response,
): Promise<Credential | undefined> {
  if (status !== 401 && status !== 403) return undefined;
  const { credentials } = request;
  const challenge = parseBearerChallenge(headers.get("www-authenticate"));
  if (status === 401) {
    await body?.cancel();
    return ask(request, () => credentials.refused(credential, challenge));
  }
  // Any other refusal is the server's own answer.
  if (challenge?.error !== "insufficient_scope") return undefined;
  await body?.cancel();
  // A refresh cannot widen what an account allows (RFC 6749 section 6).
  return ask(request, () => credentials.lacking(credential, challenge));
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
