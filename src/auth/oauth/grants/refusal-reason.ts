/**
 * The reason for which a token request was refused, from the grant as it was before the request.
 */

import { toBase64Url } from "../../../lib/base64url.ts";
import type { TokenReason } from "../../trace/trace.ts";
import { type GrantRecord, isPending, refreshTokensOf } from "./grant-record.ts";
import type { TokenRequest } from "./token-request.ts";

/** The library accepts no refresh token that expires in less than this. */
const LAST_SECONDS = 60;

export interface Before {
  /** `undefined` when the grant did not exist. */
  readonly record: GrantRecord | undefined;
  /** The hash of the code or token in the request. */
  readonly hash: string;
  /** The refresh token of the request had been replaced. */
  readonly wasRetired: boolean;
}

export async function refusalReason(
  { grantType, clientId, params }: Pick<TokenRequest, "grantType" | "clientId" | "params">,
  { record, hash, wasRetired }: Before,
  nowMs: number,
): Promise<TokenReason | undefined> {
  const isRefresh = grantType === "refresh_token";
  // A grant ends with its code, and always has a refresh token.
  if (record === undefined) return isRefresh ? "ended" : "expired";
  // A client that has the code or the token itself is distinguished from one that made it up.
  if (isRefresh && wasRetired && record.clientId === clientId) return "replaced";
  const isTheirs = isRefresh ? refreshTokensOf(record).includes(hash) : record.authCodeId === hash;
  if (!isTheirs) return undefined;
  if (record.clientId !== clientId) return "other-client";
  if (isRefresh) {
    const { expiresAt = Number.POSITIVE_INFINITY } = record;
    return expiresAt - nowMs / 1000 < LAST_SECONDS ? "expired" : undefined;
  }
  if (!isPending(record)) return "used-code";
  const redirectUri = params.get("redirect_uri");
  const isOther = redirectUri !== null && redirectUri !== (record.redirectUri ?? redirectUri);
  if (isOther) return "redirect";
  const verifier = new TextEncoder().encode(params.get("code_verifier") ?? "");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", verifier));
  return toBase64Url(digest) === record.codeChallenge ? undefined : "verifier";
}
