/**
 * The key of what is kept of one server: its lists, its changes, and who is told of them. It is the slug
 * where all callers share, and names the account elsewhere, so that nobody has what is another account's.
 */

import type { UpstreamTarget } from "./target.ts";

export interface AccountKey {
  readonly slug: string;
  readonly accountId: string;
  /** The name of the vault that has the account. */
  readonly owner: string;
}

/** Neither a slug nor an account id has a space, and a slug has no slash. */
const ACCOUNT_KEY = /^([^ /]+) ([^ ]+) (.+)$/s;
const VAULT = "accounts/";

/** @returns `undefined` while the caller has no account at the server. */
export async function serverKey(
  target: Pick<UpstreamTarget, "slug" | "credentials">,
): Promise<string | undefined> {
  const { slug, credentials } = target;
  if (credentials === undefined) return slug;
  const accountId = await credentials.account();
  return accountId === undefined
    ? undefined
    : writeKey({ slug, accountId, owner: credentials.owner });
}

export function writeKey({ slug, accountId, owner }: AccountKey): string {
  return `${slug} ${accountId} ${owner}`;
}

/** @returns `undefined` for the key of a server that all callers share. */
export function readAccountKey(key: string): AccountKey | undefined {
  const [, slug, accountId, owner] = ACCOUNT_KEY.exec(key) ?? [];
  if (slug === undefined || accountId === undefined || owner === undefined) return undefined;
  return { slug, accountId, owner };
}

/** The key of a vault, which announces that the accounts in it have changed as servers announce changes. */
export function vaultKey(owner: string): string {
  return VAULT + owner;
}

/** @returns the name of the vault; `undefined` for the key of a server. */
export function vaultOfKey(key: string): string | undefined {
  return key.startsWith(VAULT) ? key.slice(VAULT.length) : undefined;
}

export function slugOfKey(key: string): string {
  return readAccountKey(key)?.slug ?? key;
}
