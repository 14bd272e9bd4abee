/**
 * The endpoints of a person who publishes servers: theirs join `/mcp`, and each has its own `/mcp/my-<name>`.
 * Nobody else has them.
 */

import { BoundedCache } from "../lib/bounded-cache.ts";
import { OPEN_POLICY } from "../policy/item-policy.ts";
import type { Limits } from "../policy/limits.ts";
import { publishedName } from "../publishing/publisher.ts";
import { publishedTarget } from "../publishing/published-target.ts";
import type { Fetch } from "../upstream/target.ts";
import type { Endpoint, Picked } from "./endpoint.ts";
import type { Server } from "./server.ts";

export function publishedServer(
  person: string,
  name: string,
  open: Fetch,
  { maxMessageBytes }: Pick<Limits, "maxMessageBytes">,
  onGone: () => void,
): Server {
  const target = publishedTarget(person, name, open, maxMessageBytes, onGone);
  return {
    ...{ slug: target.slug, target, prefix: `${target.slug}__` },
    auth: { kind: "none" },
    ...{ tools: OPEN_POLICY, prompts: OPEN_POLICY, resources: OPEN_POLICY },
  };
}

export interface Publishing {
  readonly person: string;
  readonly names: readonly string[];
  readonly serverOf: (person: string, name: string) => Server;
}

/** By the endpoint that they join: that of a person is made once, for as long as it is used. */
const joined = new WeakMap<object, BoundedCache<Endpoint>>();
/** Those of `/mcp/my-<name>`, and of a gateway without servers of its own. */
const alone = new BoundedCache<Endpoint>({ maxEntries: 1000, ttlMs: 3_600_000 });
const MAX_PEOPLE = 1000;
const HOUR_MS = 3_600_000;

/**
 * @param picked what the configuration has for the path.
 * @param slug as `pickEndpoint` takes it.
 */
export function withPublished(
  picked: Picked,
  slug: string | undefined,
  publishing: Publishing,
): Picked {
  const { names } = publishing;
  if (slug === undefined) {
    return names.length === 0 ? picked : { kind: "endpoint", endpoint: join(picked, publishing) };
  }
  const name = publishedName(slug);
  if (name === undefined || !names.includes(name)) return picked;
  return { kind: "endpoint", endpoint: only(name, publishing) };
}

function only(name: string, { person, serverOf }: Publishing): Endpoint {
  return kept(alone, [person, name], () => ({
    servers: [serverOf(person, name)],
    ...{ isMerged: false, keepsNames: true },
  }));
}

/**
 * The published servers come last, in the order of their names. A single server of the operator's keeps its
 * names: a person who publishes one of their own would else find all others renamed.
 */
function join(picked: Picked, { person, names, serverOf }: Publishing): Endpoint {
  const own = names.map((name) => serverOf(person, name));
  const [first, ...others] = own;
  if (picked.kind !== "endpoint") {
    // The gateway has no server of its own yet.
    const { version, settledAt, isPartial } = picked.kind === "unserved" ? picked : {};
    return kept(alone, [person, ...names, "", version, settledAt, isPartial], () => ({
      servers: [first as Server, ...others],
      ...{ isMerged: true, keepsNames: false, version, settledAt },
      ...(isPartial && { isPartial }),
    }));
  }
  const { endpoint } = picked;
  const cache =
    joined.get(endpoint) ?? new BoundedCache({ maxEntries: MAX_PEOPLE, ttlMs: HOUR_MS });
  joined.set(endpoint, cache);
  return kept(cache, [person, ...names], () => {
    const [configured, ...rest] = endpoint.servers;
    const unrenamed = endpoint.isMerged
      ? configured
      : { ...configured, prefix: "", keepsNames: true as const };
    return { ...endpoint, servers: [unrenamed, ...rest, ...own], isMerged: true };
  });
}

function kept(
  cache: BoundedCache<Endpoint>,
  key: readonly unknown[],
  make: () => Endpoint,
): Endpoint {
  const text = JSON.stringify(key);
  const known = cache.get(text);
  if (known !== undefined) return known;
  const made = make();
  cache.set(text, made);
  return made;
}
