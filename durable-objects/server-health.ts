/** How all servers are, asked of their feeds at the same time: a silent one holds up nobody. */

import { type Conflict, conflictsAmong } from "../src/catalog/routing/conflicts.ts";
import type { Server } from "../src/endpoint/server.ts";
import type { Feeds } from "../src/catalog/feeds.ts";
import { settleWithin } from "../src/lib/time-out.ts";
import type { ServerHealth } from "../src/observability/health.ts";

const WAIT_MS = 2000;

/** Each with what it gives up to servers that are configured earlier. @returns in their order. */
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
      // Whatever went wrong there: the page is about the others, too.
      const asked = feeds.of(slug).health();
      const told = await settleWithin(
        asked.catch(() => undefined),
        waitMs,
      );
      return told ?? silent(slug);
    }),
  );
}

function silent(slug: string): ServerHealth {
  const message = `The gateway cannot tell at the moment how "${slug}" is`;
  return {
    ...{ slug, state: "unknown", trouble: { reason: "gateway", message, since: Date.now() } },
    counts: { tools: 0, resources: 0, templates: 0, prompts: 0 },
    ...{ watched: 0, isWatching: false },
  };
}
