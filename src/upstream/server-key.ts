/**
 * The key of what is kept of one server: its lists, its changes, and who is told of them. It is the slug
 * where all callers share, and names the account elsewhere, so that nobody has what is another account's.
 */

import { PUBLISHED_PREFIX } from "../protocol/publishing.ts";
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
/** Before the person, in the place of the vault's name. */
const PUBLISHER = "published/";
/** In the place of an account, of which a published server has none. */
const PUBLISHED = "published";
/** The key of the news that operators have changed the servers. */
export const SERVERS_KEY = "servers/";

/** @returns `undefined` while the caller has no account at the server. */
export async function serverKey(
  target: Pick<UpstreamTarget, "slug" | "credentials" | "publisher">,
): Promise<string | undefined> {
  const { slug, credentials, publisher } = target;
  if (publisher !== undefined) return publishedKey(slug, publisher);
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

/** The key of a server that a person publishes. */
export function publishedKey(slug: string, publisher: string): string {
  return writeKey({ slug, accountId: PUBLISHED, owner: PUBLISHER + publisher });
}

/** @returns `undefined` for the key of any other server. */
export function readPublishedKey(
  key: string,
): { readonly slug: string; readonly publisher: string } | undefined {
  const { slug, owner, accountId } = readAccountKey(key) ?? {};
  const publisher = publisherOfKey(owner ?? "");
  const isOne = accountId === PUBLISHED && slug?.startsWith(PUBLISHED_PREFIX) === true;
  return isOne && publisher !== undefined ? { slug, publisher } : undefined;
}

/** The key of what announces that a person's published servers come and go. */
export function publisherKey(publisher: string): string {
  return PUBLISHER + publisher;
}

/** @returns the person; `undefined` for any other key. */
export function publisherOfKey(key: string): string | undefined {
  return key.startsWith(PUBLISHER) ? key.slice(PUBLISHER.length) : undefined;
}
