/** Why the grant of a request for a token brought none: judged by its state before the request. */

import { toBase64Url } from "../../../lib/base64url.ts";
import type { TokenReason } from "../../trace/token-reasons.ts";
import type { GrantState } from "./grant-state.ts";
import type { GrantTokenRequest } from "./grant-token-request.ts";

/** The library takes no refresh token that is good for less than this. */
const LAST_SECONDS = 60;

export interface Before {
  /** `undefined` when there was no such grant. */
  readonly state: GrantState | undefined;
  /** The refresh token of the request had been replaced. */
  readonly wasRetired: boolean;
}

/** @param params the form of the visit. */
export async function refusalReason(
  { form, hash }: GrantTokenRequest,
  params: URLSearchParams,
  { state, wasRetired }: Before,
  nowMs: number,
): Promise<TokenReason | undefined> {
  const isRefresh = form.grantType === "refresh_token";
  // A grant goes with its code, and is never there without a refresh token.
  if (state === undefined) return isRefresh ? "ended" : "expired";
  // Who has the code or the token itself is told apart from who made one up.
  if (isRefresh && wasRetired && state.client === form.clientId) return "replaced";
  const isTheirs = isRefresh ? state.refreshTokens.includes(hash) : state.code === hash;
  if (!isTheirs) return undefined;
  if (state.client !== form.clientId) return "other-client";
  if (isRefresh) {
    const { expiresAt = Number.POSITIVE_INFINITY } = state;
    return expiresAt - nowMs / 1000 < LAST_SECONDS ? "expired" : undefined;
  }
  if (!state.isPending) return "used-code";
  const redirectUri = params.get("redirect_uri");
  const isOther = redirectUri !== null && redirectUri !== (state.redirectUri ?? redirectUri);
  if (isOther) return "redirect";
  const verifier = new TextEncoder().encode(params.get("code_verifier") ?? "");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", verifier));
  return toBase64Url(digest) === state.challenge ? undefined : "verifier";
}
