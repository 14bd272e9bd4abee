/** The health of all servers, read from their feeds in parallel: a slow feed does not delay the others. */

import { type Conflict, conflictsAmong } from "./conflicts.ts";
import type { Server } from "../../endpoint/server.ts";
import type { Feeds } from "../feeds.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { ServerHealth } from "../../observability/health.ts";

const WAIT_MS = 2000;

/** @returns the health of each server with its resource conflicts, in the order of the servers. */
export async function healthOf(
  feeds: Feeds,
  servers: readonly Server[],
): Promise<readonly ServerHealth[]> {
  const [all, conflicts] = await Promise.all([
    healthIn(
      feeds,
      servers.map(({ slug }) => slug),
    ),
    conflictsIn(feeds, servers),
  ]);
  return all.map((health) => ({
    ...health,
    conflicts: conflicts.filter(({ server }) => server === health.slug),
  }));
}

async function conflictsIn(feeds: Feeds, servers: readonly Server[]): Promise<readonly Conflict[]> {
  const parts = await Promise.all(
    servers.map(async (server) => {
      const asked = feeds.of(server.slug).resources();
      const catalog = await settleWithin(
        asked.catch(() => undefined),
        WAIT_MS,
      );
      return { server, catalog };
    }),
  );
  return conflictsAmong(parts);
}

/** @returns in the order of the slugs. */
export function healthIn(
  feeds: Feeds,
  slugs: readonly string[],
  waitMs: number = WAIT_MS,
): Promise<readonly ServerHealth[]> {
  return Promise.all(
    slugs.map(async (slug) => {
      // A failed feed is reported as such, so that the page still shows the others.
      const asked = feeds.of(slug).health();
      const health = await settleWithin(
        asked.catch(() => undefined),
        waitMs,
      );
      return health ?? silent(slug);
    }),
  );
}

function silent(slug: string): ServerHealth {
  const message = `The gateway cannot tell at the moment how "${slug}" is`;
  return {
    slug,
    state: "unknown",
    trouble: { reason: "gateway", message, since: Date.now() },
    counts: { tools: 0, resources: 0, templates: 0, prompts: 0 },
    watched: 0,
    isWatching: false,
  };
}
