/** The health of all servers, read from their feeds in parallel: a slow feed does not delay the others. */

import { isPersonal } from "../../accounts/settings.ts";
import { type Conflict, conflictsAmong } from "./conflicts.ts";
import type { Server } from "../../endpoint/server.ts";
import type { Feeds, LookReason } from "../feeds.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { ServerHealth } from "../../observability/health.ts";
import { serverKey } from "../../upstream/server-key.ts";

const WAIT_MS = 2000;
/** Longer than a feed lets its caller wait for the server. */
const LOOK_WAIT_MS = 25_000;
const LOOKS_AT_ONCE = 8;
const UNKNOWN: Omit<ServerHealth, "slug"> = {
  state: "unknown",
  counts: { tools: 0, resources: 0, templates: 0, prompts: 0 },
  watched: 0,
  isWatching: false,
};

/**
 * Looks at those servers that were not looked at a moment ago.
 *
 * @param servers as all callers have them together: with the account that they share, if there is one.
 * @returns the health of each server with its resource conflicts, in the order of the servers.
 */
export async function healthOf(
  feeds: Feeds,
  servers: readonly Server[],
): Promise<readonly ServerHealth[]> {
  const known = await Promise.all(
    servers.map(async (server) => ({ server, key: await keyOf(server) })),
  );
  const read = known.filter((each) => each.key !== undefined);
  const [health, conflicts] = await Promise.all([
    Promise.all(known.map(({ server, key }) => healthBy(feeds, server, key))),
    conflictsIn(feeds, read),
  ]);
  return health.map((each, n) => {
    const label = servers[n]?.label;
    const own = conflicts.filter(({ server }) => server === each.slug);
    return {
      ...each,
      ...(label !== undefined && { label }),
      conflicts: own.map((conflict) => ({ ...conflict, ...sinceOf(conflict, health) })),
    };
  });
}

/** A conflict began with the last change of one of the two. */
function sinceOf(conflict: Conflict, all: readonly ServerHealth[]): { readonly since?: number } {
  const both = all.filter(({ slug }) => slug === conflict.server || slug === conflict.with);
  const changes = both.flatMap(({ changedAt }) => changedAt ?? []);
  return changes.length === 0 ? {} : { since: Math.max(...changes) };
}

/** @returns the key of what all callers share of a server; `undefined` where there is nothing of the kind. */
export async function keyOf({ auth, target }: Server): Promise<string | undefined> {
  if (isPersonal(auth)) return undefined;
  // The vault restarts.
  return serverKey(target).catch(() => undefined);
}

async function healthBy(
  feeds: Feeds,
  server: Server,
  key: string | undefined,
): Promise<ServerHealth> {
  if (key === undefined) return withoutAccount(server);
  const { slug } = server;
  return (await asked(feeds.of(key).look("page"), WAIT_MS)) ?? silent(slug);
}

/** A failed feed is reported as such, so that the page still shows the others. */
function asked<T>(answer: Promise<T>, waitMs: number): Promise<T | undefined> {
  return settleWithin(
    answer.catch(() => undefined),
    waitMs,
  );
}

/** How a server is of which the gateway can know nothing by itself. */
export function withoutAccount({ slug, auth }: Server): ServerHealth {
  return isPersonal(auth)
    ? {
        ...{ ...UNKNOWN, slug, state: "personal" },
        note: "Each person has an account of their own there, and sees what that account is shown",
      }
    : {
        ...{ ...UNKNOWN, slug, state: "unconnected" },
        note: "It is called with one account for everybody, which nobody has connected yet",
      };
}

async function conflictsIn(
  feeds: Feeds,
  servers: readonly { readonly server: Server; readonly key: string | undefined }[],
): Promise<readonly Conflict[]> {
  const parts = await Promise.all(
    servers.map(async ({ server, key = "" }) => {
      const catalog = await asked(feeds.of(key).resources(), WAIT_MS);
      return { server, catalog };
    }),
  );
  return conflictsAmong(parts);
}

function silent(slug: string): ServerHealth {
  const message = `The gateway cannot tell at the moment how "${slug}" is`;
  return { ...UNKNOWN, slug, trouble: { reason: "gateway", message, since: Date.now() } };
}

/** Looks at servers of which nothing is known, or nothing new. Never rejects. */
export async function lookAt(
  feeds: Feeds,
  servers: readonly Server[],
  reason: LookReason,
): Promise<void> {
  await mapLimited(servers, LOOKS_AT_ONCE, async (server) => {
    const key = await keyOf(server);
    if (key !== undefined) await asked(feeds.of(key).look(reason), LOOK_WAIT_MS);
  });
}
