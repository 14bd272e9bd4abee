/**
 * Sessions and listeners speak of servers by slug, and the fan-out by the key of what is kept of a server:
 * a change at one account is not told to another.
 */

import type { Interests, Topic } from "../catalog/feeds.ts";
import { type Endpoint, serverOf } from "../endpoint/endpoint.ts";
import { hasAccounts } from "../endpoint/personal-endpoint.ts";
import { serverKey, slugOfKey } from "../upstream/server-key.ts";

/** @returns the interests for the fan-out, without servers at which the caller has no account. */
export async function byKey(endpoint: Endpoint, interests: Interests): Promise<Interests> {
  if (!hasAccounts(endpoint)) return interests;
  const keyed = await Promise.all(
    Object.entries(interests).map(async ([slug, topics]) => {
      const server = serverOf(endpoint, slug);
      const key = server && (await serverKey(server.target));
      return key === undefined ? [] : [[key, topics] as const];
    }),
  );
  return Object.fromEntries(keyed.flat());
}

/** The reverse of `byKey`. */
export function bySlug(endpoint: Endpoint, interests: Interests): Interests {
  if (!hasAccounts(endpoint)) return interests;
  const slugs = Object.entries(interests).map(([key, topics]): [string, readonly Topic[]] => [
    slugOfKey(key),
    topics,
  ]);
  return Object.fromEntries(slugs);
}
