/** The health of all servers, read from their feeds in parallel: a slow feed does not delay the others. */

import { isPersonal, needsVault } from "../../accounts/settings.ts";
import { type Conflict, conflictsAmong } from "./conflicts.ts";
import type { Server } from "../../endpoint/server.ts";
import type { Feeds } from "../feeds.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { ServerHealth } from "../../observability/health.ts";

const WAIT_MS = 2000;
const UNKNOWN: Omit<ServerHealth, "slug"> = {
  state: "unknown",
  counts: { tools: 0, resources: 0, templates: 0, prompts: 0 },
  watched: 0,
  isWatching: false,
};

/** @returns the health of each server with its resource conflicts, in the order of the servers. */
export async function healthOf(
  feeds: Feeds,
  servers: readonly Server[],
): Promise<readonly ServerHealth[]> {
  // What is kept of the others is kept for each account.
  const known = servers.filter(({ auth }) => !needsVault(auth));
  const [read, conflicts] = await Promise.all([
    healthIn(
      feeds,
      known.map(({ slug }) => slug),
    ),
    conflictsIn(feeds, known),
  ]);
  const bySlug = new Map(read.map((health) => [health.slug, health]));
  return servers.map((server) => ({
    ...(bySlug.get(server.slug) ?? byAccount(server)),
    ...(server.label !== undefined && { label: server.label }),
    conflicts: conflicts.filter((conflict) => conflict.server === server.slug),
  }));
}

function byAccount({ slug, auth }: Server): ServerHealth {
  const note = isPersonal(auth)
    ? "Each person has an account of their own there, and sees what that account is shown"
    : "It is called with one account for everybody, which is listed below";
  return { ...UNKNOWN, slug, note };
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
  return { ...UNKNOWN, slug, trouble: { reason: "gateway", message, since: Date.now() } };
}
