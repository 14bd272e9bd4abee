/**
 * Sends an error of RFC 6749 section 4.1.2.1 to the application: by a redirect where that is safe,
 * and otherwise by a link that the person may follow. Anyone can register an application with any
 * redirect URI; a redirect without a question would make this server an open redirector (RFC 9700
 * section 4.11.2).
 */

import type { AuthRequest } from "@cloudflare/workers-oauth-provider";

import type { AuthContext } from "../context/context.ts";
import { isKnownRedirect } from "../clients/redirect-uris.ts";
import type { User } from "../store/users.ts";
import { isReturning } from "./approval-rules.ts";
import { type Redirect, redirect, type ReturnLink } from "./ending.ts";

export interface ErrorAnswer {
  readonly code: string;
  readonly description: string;
  /** The reference of the login doctor's step. */
  readonly reference: string;
}

/**
 * @param user the signed-in user: a user who has approved the application knows where its redirect
 *   leads.
 */
export async function answerError(
  { store, origin }: AuthContext,
  request: Pick<AuthRequest, "clientId" | "redirectUri" | "state">,
  user: User | undefined,
  { code, description, reference }: ErrorAnswer,
): Promise<Redirect | ReturnLink> {
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
