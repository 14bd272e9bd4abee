/** The fixture as a server of each revision, with nothing but what that revision has. */

import { type EraFilter, startEraFilter } from "../support/era-filter.ts";
import { isLegacy, OVER_SSE, REVISIONS, type Revision } from "../support/revisions.ts";
import { type Server, startGateway } from "../support/servers.ts";

export type Servers = Readonly<Record<Revision, EraFilter>>;

export async function startServers(fixture: string): Promise<Servers> {
  const started = await Promise.all(
    REVISIONS.map(async (revision) => [revision, await startServer(fixture, revision)] as const),
  );
  return Object.fromEntries(started) as Record<Revision, EraFilter>;
}

export async function stopServers(servers: Servers): Promise<void> {
  await Promise.all(Object.values(servers).map((server) => server.close()));
}

/** One gateway in front of all of them. */
export function startGatewayTo(servers: Servers): Promise<Server> {
  const entries = REVISIONS.map((revision) => [slugOf(revision), { url: servers[revision].url }]);
  return startGateway({
    servers: Object.fromEntries(entries) as Record<string, { url: string }>,
    limits: { keepAliveSeconds: 1 },
  });
}

export function slugOf(revision: Revision): string {
  return `of-${revision}`;
}

function startServer(fixture: string, revision: Revision): Promise<EraFilter> {
  if (!isLegacy(revision)) return startEraFilter(fixture, { era: "modern" });
  return startEraFilter(fixture, {
    era: "legacy",
    newest: revision,
    ...(revision === OVER_SSE ? { transport: "sse" } : {}),
  });
}
