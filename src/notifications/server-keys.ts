/**
 * Sessions and listeners speak of servers by slug, and the fan-out by the key of what is kept of a server:
 * a change at one account is not told to another. Those who are told of lists are told by the vault too
 * that its accounts have changed: then the lists are other lists, and so are the keys. A vault also tells
 * those whose person was asked to connect an account.
 *
 * Everybody is told, under `SERVERS_KEY`, when an operator has changed the servers.
 */

import type { Interests, News, Topic } from "../catalog/feeds.ts";
import { askOf, isListTopic, versionOf, versionTopicOf } from "../catalog/topics.ts";
import { type Endpoint, serverOf } from "../endpoint/endpoint.ts";
import { hasAccounts, NOBODY } from "../endpoint/personal-endpoint.ts";
import type { PublisherScope } from "../catalog/request-scope.ts";
import {
  publisherKey,
  publisherOfKey,
  serverKey,
  SERVERS_KEY,
  slugOfKey,
  vaultKey,
  vaultOfKey,
} from "../upstream/server-key.ts";

/**
 * @param publisher told that its published servers come and go.
 * @returns the interests for the fan-out: servers at which the caller has an account, and the vaults.
 */
export async function byKey(
  endpoint: Endpoint,
  interests: Interests,
  publisher?: PublisherScope,
): Promise<Interests> {
  // Of the same moment as the interests: what a server has that comes meanwhile is not among them.
  const version = publisher?.version?.();
  const keyed = await ofServers(endpoint, interests);
  const lists = [...new Set(Object.values(interests).flat())].filter(isListTopic);
  if (publisher === undefined || lists.length === 0) return keyed;
  const known = version === undefined ? [] : [versionTopicOf(version)];
  return { ...keyed, [publisherKey(publisher.person)]: [...lists, ...known] };
}

/** In the place of a key, where the caller has no account. */
export const NO_ACCOUNT = "";

/** By slug, the keys of the caller's accounts, or `NO_ACCOUNT`, at those servers that know their callers by one. */
export type AccountKeys = ReadonlyMap<string, string>;

/** @param slugs of the servers in question: each vault is asked where this isolate knows of no account. */
export async function accountKeys(
  endpoint: Endpoint,
  slugs: Iterable<string>,
): Promise<AccountKeys> {
  const keyed = [...slugs].map(async (slug) => {
    const target = serverOf(endpoint, slug)?.target;
    if (target?.credentials === undefined) return [];
    return [[slug, (await serverKey(target)) ?? NO_ACCOUNT] as const];
  });
  return new Map((await Promise.all(keyed)).flat());
}

/**
 * Whether the caller has other accounts than these by now. To be asked when the vaults have been asked to tell of
 * changes: of those before that, they tell nobody. Rejects when a vault cannot be asked.
 */
export async function hasOtherAccounts(endpoint: Endpoint, before: AccountKeys): Promise<boolean> {
  // This isolate may have accounts of some seconds ago.
  for (const slug of before.keys()) serverOf(endpoint, slug)?.target.credentials?.changed();
  const now = await accountKeys(endpoint, before.keys());
  return [...now].some(([slug, key]) => before.get(slug) !== key);
}

async function ofServers(endpoint: Endpoint, interests: Interests): Promise<Interests> {
  if (!hasAccounts(endpoint)) return interests;
  const keyed = await Promise.all(
    Object.entries(interests).map(async ([slug, topics]) => {
      if (slug === SERVERS_KEY) return [[slug, topics] as const];
      const server = serverOf(endpoint, slug);
      const key = server && (await serverKey(server.target));
      const own = topics.filter((topic) => askOf(topic) === undefined);
      return key === undefined || own.length === 0 ? [] : [[key, own] as const];
    }),
  );
  return { ...Object.fromEntries(keyed.flat()), ...inVaults(endpoint, interests) };
}

function inVaults(endpoint: Endpoint, interests: Interests): Interests {
  const byVault = new Map<string, Topic[]>();
  for (const [slug, topics] of Object.entries(interests)) {
    const owner = serverOf(endpoint, slug)?.target.credentials?.owner;
    const wanted = topics.filter((topic) => isListTopic(topic) || askOf(topic) !== undefined);
    if (owner === undefined || owner === NOBODY || wanted.length === 0) continue;
    const key = vaultKey(owner);
    byVault.set(key, [...new Set([...(byVault.get(key) ?? []), ...wanted])]);
  }
  return Object.fromEntries(byVault);
}

/** @returns whether the news is a vault's. From here on, the endpoint's accounts are the new ones. */
export function takeAccountNews({ servers }: Endpoint, { slug: key }: News): boolean {
  const owner = vaultOfKey(key);
  if (owner === undefined) return false;
  for (const { target } of servers) {
    if (target.credentials?.owner === owner) target.credentials.changed();
  }
  return true;
}

/** Whether whoever has this version has what the news is of: that there is a newer one than those it names. */
export function isOfNews(version: number | undefined, { topics }: News): boolean {
  return topics.every((topic) => (version ?? -Infinity) > (versionOf(topic) ?? -Infinity));
}

/** @returns whether the news is that a published server has come or gone. From here on, it is looked at anew. */
export function takePublisherNews(publisher: PublisherScope | undefined, { slug }: News): boolean {
  if (publisher === undefined || publisherOfKey(slug) === undefined) return false;
  publisher.changed?.();
  return true;
}

/** The reverse of `byKey`. A vault keeps its key. */
export function bySlug(endpoint: Endpoint, interests: Interests): Interests {
  if (!hasAccounts(endpoint)) return interests;
  const slugs = Object.entries(interests).map(([key, topics]): [string, readonly Topic[]] => [
    slugOfKey(key),
    topics,
  ]);
  return Object.fromEntries(slugs);
}
