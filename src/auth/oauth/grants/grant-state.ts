/** What the library's record of a grant says of the tokens that it takes at this moment. */

import { tryJson } from "../../../lib/try-json.ts";
import { isObject } from "../../../protocol/json-rpc.ts";
import type { KvRows } from "../../store/kv-rows.ts";

export interface GrantState {
  readonly client: string;
  /** Nobody has redeemed its code yet. */
  readonly isPending: boolean;
  /** The hash of that code. */
  readonly code: string;
  /** What its request has to show (RFC 7636, RFC 6749 section 4.1.3); absent once it is redeemed. */
  readonly challenge: string | undefined;
  readonly redirectUri: string | undefined;
  /** Seconds since 1970. */
  readonly expiresAt: number | undefined;
  /** Hashes of refresh tokens: the current one, and the one before until the current one is used. */
  readonly refreshTokens: readonly string[];
}

/** @returns `undefined` when there is no such grant. */
export function grantState(rows: KvRows, user: string, grant: string): GrantState | undefined {
  const record = tryJson(rows.get(`grant:${user}:${grant}`) ?? "");
  if (!isObject(record)) return undefined;
  const { clientId, authCodeId, authCodeWrappedKey } = record;
  const { codeChallenge, redirectUri, expiresAt } = record;
  const tokens = [record["refreshTokenId"], record["previousRefreshTokenId"]];
  return {
    client: String(clientId),
    isPending: authCodeWrappedKey !== undefined,
    code: String(authCodeId),
    challenge: typeof codeChallenge === "string" ? codeChallenge : undefined,
    redirectUri: typeof redirectUri === "string" ? redirectUri : undefined,
    expiresAt: typeof expiresAt === "number" ? expiresAt : undefined,
    refreshTokens: tokens.filter((hash) => typeof hash === "string"),
  };
}

/** @returns whether there is such an access token, which may have expired by a second. */
export function hasAccessToken(
  rows: KvRows,
  { user, grant }: { readonly user: string; readonly grant: string },
  hash: string,
): boolean {
  return rows.get(`token:${user}:${grant}:${hash}`) !== null;
}

/** The hash by which the library keeps a code or token. */
export async function tokenHash(token: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
