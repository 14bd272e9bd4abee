/** A grant as the library stores it, and the codes and tokens that it accepts at this moment. */

import type { Grant } from "@cloudflare/workers-oauth-provider";

import type { TokenSubject } from "./token-request.ts";

/** The data of a grant that is stored unencrypted. */
export interface GrantMetadata {
  readonly name: string;
  /**
   * The MAC of the owner code under which the grant was approved, if it was
   * (`SignInResult.codeMac`).
   */
  readonly codeMac?: string;
}

/** The members of the library's record that are read here. Hashes stand for codes and tokens. */
export interface GrantRecord extends Pick<
  Grant,
  | "id"
  | "clientId"
  | "scope"
  | "createdAt"
  | "expiresAt"
  | "refreshTokenId"
  | "previousRefreshTokenId"
  | "authCodeId"
  | "authCodeWrappedKey"
  | "codeChallenge"
  | "redirectUri"
  | "resource"
> {
  readonly metadata?: GrantMetadata;
}

/** The key of the grant's row. */
export function grantKey({ user, grant }: TokenSubject): string {
  return `grant:${user}:${grant}`;
}

/** @returns whether the code of the grant was not redeemed yet. */
export function isPending({ authCodeWrappedKey }: GrantRecord): boolean {
  return authCodeWrappedKey !== undefined;
}

/**
 * @returns hashes of refresh tokens: the current one, and the one before until the current one is
 *   used.
 */
export function refreshTokensOf({
  refreshTokenId,
  previousRefreshTokenId,
}: GrantRecord): readonly string[] {
  return [refreshTokenId, previousRefreshTokenId].filter((hash) => hash !== undefined);
}

/** @returns the hash under which the library stores a code or token. */
export async function tokenHash(token: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
