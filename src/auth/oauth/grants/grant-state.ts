/** The tokens that a grant accepts at this moment, as the library's record of it has them. */

import { tryJson } from "../../../lib/try-json.ts";
import { isObject } from "../../../protocol/json-rpc.ts";
import type { KvRows } from "../../store/kv-rows.ts";

export interface GrantState {
  readonly client: string;
  /** The code of the grant was not redeemed yet. */
  readonly isPending: boolean;
  /** The hash of that code. */
  readonly code: string;
  /**
   * The challenge that the request must answer (RFC 7636, RFC 6749 section 4.1.3); absent once the
   * code is redeemed.
   */
  readonly challenge: string | undefined;
  readonly redirectUri: string | undefined;
  /** Seconds since 1970. */
  readonly expiresAt: number | undefined;
  /** Hashes of refresh tokens: the current one, and the one before until the current one is used. */
  readonly refreshTokens: readonly string[];
}

/** @returns `undefined` when the grant does not exist. */
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

/** @returns whether the access token exists, which may have expired by a second. */
export function hasAccessToken(
  rows: KvRows,
  { user, grant }: { readonly user: string; readonly grant: string },
  hash: string,
): boolean {
  return rows.get(`token:${user}:${grant}:${hash}`) !== null;
}

/** @returns the hash under which the library stores a code or token. */
export async function tokenHash(token: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
