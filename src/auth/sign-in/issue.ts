/** The end of an authorization: the code for the application, or the error. */

import type { AuthRequest } from "@cloudflare/workers-oauth-provider";

import { isKnownRedirect, isUsed } from "../clients/redirect-uris.ts";
import type { AuthContext } from "../context/context.ts";
import type { GrantMetadata } from "../oauth/grants/grant-record.ts";
import { subjectOf } from "../oauth/grants/token-request.ts";
import { scopesOf } from "../scopes.ts";
import type { User } from "../store/users.ts";
import { approvalOf, isReturning } from "./approval-rules.ts";
import { findClient } from "./asking-client.ts";
import {
  type AuthorizeContent,
  type Ending,
  problem,
  redirect,
  type SignedInPerson,
} from "./attempt.ts";

/** The scopes that a person has just approved for an application. */
interface Approved {
  readonly content: AuthorizeContent;
  readonly scopes: readonly string[];
  /** The id of the attempt's record. */
  readonly attempt: string;
}

/** Stores the approval, and sends a code to the application. */
export async function issueApproved(
  context: AuthContext,
  { content, scopes, attempt }: Approved,
  person: SignedInPerson,
): Promise<Ending> {
  const { client, request } = content;
  const { user } = person;
  // The person approved what the page showed; if that has changed, they have to read it again.
  const now = await findClient(context, client.id);
  if (now.kind !== "client" || now.client.digest !== client.digest) {
    const step = { kind: "attempt_refused", reason: "malformed", client: client.id } as const;
    return problem("client-changed", { reference: context.trace({ ...step, attempt }) });
  }
  const { approvals, audit } = context.store.ofUser(user.id);
  await approvals.save(user.id, approvalOf(content, scopes, Date.now()));
  await audit.append(user.id, "consent_approved", {
    application: client.name,
    client: client.id,
    resource: request.resource,
    scopes: scopes.join(" "),
  });
  return issueCode(context, { content, scopes, attempt }, person);
}

/** @param approved the approved scopes, approved now or earlier. */
export async function issueCode(
  context: AuthContext,
  { content, scopes, attempt }: Omit<Approved, "attempt"> & Partial<Pick<Approved, "attempt">>,
  person: SignedInPerson,
): Promise<Ending> {
  const { client, request } = content;
  const { user, codeMac } = person;
  const marks = { client: client.id, ...(attempt !== undefined && { attempt }) };
  // The library would send a code to any scheme that the client lists.
  if (!isUsed(request.redirectUri)) {
    const { redirectUri } = request;
    const step = { kind: "ask_refused", reason: "redirect-mismatch", redirectUri } as const;
    return problem("bad-redirect", { reference: context.trace({ ...step, ...marks }) });
  }
  // The page is also shown to people who are not signed in, so a user's rights are known only now.
  const granted = scopesOf(user, scopes);
  if (granted.length === 0) {
    const step = {
      kind: "ask_refused",
      reason: "unknown-scope",
      resource: request.resource,
    } as const;
    return answerError(context, request, user, {
      code: "invalid_scope",
      description: "The account may not do what was asked for",
      reference: context.trace({ ...step, ...marks }),
    });
  }
  const metadata: GrantMetadata = {
    name: client.name,
    ...(codeMac !== undefined && { codeMac }),
  };
  const { redirectTo } = await context.authority.helpers(context.engine).completeAuthorization({
    ...{ request, metadata, props: {} },
    userId: user.id,
    scope: granted,
    // A link to this page must not end the application's grants (it may come from another person).
    revokeExistingGrants: false,
  });
  const code = new URL(redirectTo).searchParams.get("code") ?? "";
  const grant = subjectOf(code)?.grant ?? "";
  if (!(await isStillSignedIn(context, person))) {
    const shard = context.store.ofUser(user.id);
    await Promise.all([shard.endGrant(user.id, grant), shard.approvals.forget(user.id, client.id)]);
    const reference = context.trace({ kind: "attempt_refused", reason: "ended", ...marks });
    return problem("attempt-gone", { reference, sentence: SIGNED_OUT });
  }
  context.trace({ kind: "code_issued", user: user.id, ...marks, grant });
  return redirect(redirectTo);
}

const SIGNED_OUT =
  "You were signed out while the application was approved, so it was given no access.";

/**
 * Whatever ends a person's access ends their sessions and their grants in one turn of their object.
 * So where the session lasts after a grant was written, the grant has not been missed, and will not
 * be.
 */
async function isStillSignedIn(
  { store }: Pick<AuthContext, "store">,
  { user, session }: SignedInPerson,
): Promise<boolean> {
  return store.ofUser(user.id).sessions.has(user.id, session);
}

interface ErrorAnswer {
  readonly code: string;
  readonly description: string;
  /** The reference of the login doctor's step. */
  readonly reference: string;
}

/**
 * Sends an error of RFC 6749 section 4.1.2.1 to the application: by a redirect where that is safe,
 * and otherwise by a link that the person may follow. Anyone can register an application with any
 * redirect URI; a redirect without a question would make this server an open redirector (RFC 9700
 * section 4.11.2).
 *
 * @param user the signed-in user: a user who has approved the application knows where its redirect
 *   leads.
 */
export async function answerError(
  { store, origin }: AuthContext,
  request: Pick<AuthRequest, "clientId" | "redirectUri" | "state">,
  user: User | undefined,
  { code, description, reference }: ErrorAnswer,
): Promise<Ending> {
  const { clientId, redirectUri, state } = request;
  const href = errorUrl(redirectUri, {
    error: code,
    error_description: asciiOf(description),
    state,
    // RFC 9207: the issuer of the response.
    iss: origin,
  });
  const isTrusted =
    isKnownRedirect(redirectUri) ||
    (user !== undefined &&
      isReturning(clientId, redirectUri, await store.ofUser(user.id).approvals.list(user.id)));
  return isTrusted ? redirect(href) : { kind: "return-link", href, error: code, reference };
}

/**
 * Replaces or removes parameters with these names that the redirect URI has already: they are not
 * ours.
 */
function errorUrl(redirectUri: string, answer: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) {
    if (value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

/**
 * RFC 6749 section 4.1.2.1 lists the allowed characters of `error_description`; the library quotes
 * values.
 */
function asciiOf(description: string): string {
  return description.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "").slice(0, 200);
}
