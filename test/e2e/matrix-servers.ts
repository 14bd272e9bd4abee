/** The fixture as a server of each revision, with nothing but what that revision has. */

import { type EraFilter, startEraFilter } from "../support/era-filter.ts";
import { NODE, ROOT } from "../support/process.ts";
import { isLegacy, OVER_SSE, REVISIONS, type Revision } from "../support/revisions.ts";
import { type Server, startGateway } from "../support/servers.ts";

export type Servers = Readonly<Record<Revision, EraFilter>>;

/** @param isOverStdio where 2024-11-05 has no other transport to bring. */
export async function startServers(fixture: string, isOverStdio = false): Promise<Servers> {
  const started = await Promise.all(
    REVISIONS.map(
      async (revision) => [revision, await startServer(fixture, revision, isOverStdio)] as const,
    ),
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

/** The same over stdio, as a command of a machine each: `edgeway connect` relays untranslated. */
export function commandOf({ url }: EraFilter): object {
  return { command: NODE, args: [`${ROOT}cli/edgeway.mjs`, "connect", url] };
}

function startServer(
  fixture: string,
  revision: Revision,
  isOverStdio: boolean,
): Promise<EraFilter> {
  if (!isLegacy(revision)) return startEraFilter(fixture, { era: "modern" });
  return startEraFilter(fixture, {
    era: "legacy",
    newest: revision,
    ...(revision === OVER_SSE && !isOverStdio ? { transport: "sse" } : {}),
  });
}
