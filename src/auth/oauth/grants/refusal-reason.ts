/**
 * The reason for which a token request was refused, from the state of the grant before the request.
 */

import { toBase64Url } from "../../../lib/base64url.ts";
import type { TokenReason } from "../../trace/token-reasons.ts";
import type { GrantState } from "./grant-state.ts";
import type { GrantTokenRequest } from "./grant-token-request.ts";

/** The library accepts no refresh token that expires in less than this. */
const LAST_SECONDS = 60;

export interface Before {
  /** `undefined` when the grant did not exist. */
  readonly state: GrantState | undefined;
  /** The refresh token of the request had been replaced. */
  readonly wasRetired: boolean;
}

/** @param params the form of the request. */
export async function refusalReason(
  { form, hash }: GrantTokenRequest,
  params: URLSearchParams,
  { state, wasRetired }: Before,
  nowMs: number,
): Promise<TokenReason | undefined> {
  const isRefresh = form.grantType === "refresh_token";
  // A grant ends with its code, and always has a refresh token.
  if (state === undefined) return isRefresh ? "ended" : "expired";
  // A client that has the code or the token itself is distinguished from one that made it up.
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
