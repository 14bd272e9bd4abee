/** The servers as the operator's pages see them, over their feeds; and the look at all of them when an isolate starts. */

import { currentCatalog } from "../src/catalog/cache/catalogs.ts";
import { healthOf, keyOf, lookAt, withoutAccount } from "../src/catalog/routing/server-health.ts";
import type { Config } from "../src/config/config.ts";
import { GATEWAY_CLIENT } from "../src/endpoint/client-kind.ts";
import { serverFor } from "../src/endpoint/personal-endpoint.ts";
import type { Server } from "../src/endpoint/server.ts";
import { fnv1a64 } from "../src/lib/fnv1a.ts";
import type { ServerSwitch } from "../src/observability/added-servers.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";
import type {
  GatewayServers,
  NamedReport,
  SwitchChange,
} from "../src/pages/operator/gateway-servers.ts";
import { addedServersIn } from "./added-servers.ts";
import { activitiesIn } from "./activities.ts";
import { personalScopeOf } from "./identity.ts";
import { serverStoreIn } from "./live-config.ts";
import { feedsIn, registryIn } from "./ports.ts";

export function gatewayServersIn(env: Env, config: Config): GatewayServers {
  const { servers, notices } = config;
  const feeds = feedsIn(env);
  const shared = (slug: string): Server | undefined => {
    const server = servers.get(slug);
    return server && asShared(env, config, server);
  };
  return {
    notices,
    added: addedServersIn(env),
    health: () => healthOf(feeds, sharedServers(env, config)),
    async report(slug) {
      const server = shared(slug);
      if (server === undefined) return undefined;
      const key = await keyOf(server);
      const known =
        key === undefined
          ? { health: withoutAccount(server), looks: [], troubles: [] }
          : await feeds.of(key).describe();
      const { label } = server;
      const health = { ...known.health, ...(label !== undefined && { label }) };
      return {
        ...known,
        health,
        url: shownUrl(server),
        auth: server.auth.kind,
      } satisfies NamedReport;
    },
    lastCalled: async () =>
      config.activity === "off" ? undefined : activitiesIn(env).lastCalled(),
    async switchOf(slug) {
      const { switches } = await serverStoreIn(env).addedServers();
      const { off = false, deniedTools = [], revision = 0 } = switches[slug] ?? {};
      return { isOff: off, deniedTools, revision };
    },
    async putSwitch(slug, change, revision) {
      const store = serverStoreIn(env);
      const before = (await store.addedServers()).switches[slug] ?? {};
      const { kind } = await store.putSwitch(slug, changed(before, change), revision);
      return kind === "too-large" ? "full" : kind;
    },
    async tools(slug, person) {
      const server = servers.get(slug);
      if (server === undefined) return undefined;
      const caller = { person, origin: config.publicOrigin };
      const own = serverFor(server, caller, personalScopeOf(env, config));
      const { limits } = config;
      const known = await currentCatalog({ feeds, limits }, own, GATEWAY_CLIENT);
      // The tool by which clients connect an account is no tool of the server's.
      const items = known.isUnconnected === true ? undefined : known.catalog?.lists.tools;
      return { items, policy: server.tools };
    },
    async look(slug) {
      const server = shared(slug);
      if (server !== undefined) await lookAt(feeds, [server], "button");
    },
  };
}

function changed(
  { off = false, deniedTools = [] }: ServerSwitch,
  change: SwitchChange,
): ServerSwitch {
  if ("isOff" in change) return { off: change.isOff, deniedTools };
  const { tool, isDenied } = change;
  const others = deniedTools.filter((name) => name !== tool);
  return { off, deniedTools: isDenied ? [...others, tool] : others };
}

/** What all callers share is read in the gateway's own name. */
function asShared(env: Env, config: Config, server: Server): Server {
  return serverFor(server, { origin: config.publicOrigin }, personalScopeOf(env, config));
}

function sharedServers(env: Env, config: Config): readonly Server[] {
  return Array.from(config.servers.values(), (server) => asShared(env, config, server));
}

/** Secrets are in queries, too. */
function shownUrl({ target: { endpoint, isOverNetwork } }: Server): string {
  if (isOverNetwork === false) return "a service binding of this Worker";
  const { origin, pathname, search } = endpoint;
  return origin + pathname + (search === "" ? "" : "?…");
}

/** Looks at the servers beside the first answer of an isolate, unless another isolate has a moment ago. Never rejects. */
export async function lookAtStart(env: Env, config: Config): Promise<void> {
  const { looksPerStart } = config.limits;
  const servers = sharedServers(env, config).slice(0, looksPerStart);
  if (servers.length === 0) return;
  try {
    const all = JSON.stringify(servers.map(({ slug, target }) => [slug, target.endpoint.href]));
    const isOurs = await registryIn(env).claimLook(fnv1a64(all).toString(36));
    if (isOurs) await lookAt(feedsIn(env), servers, "start");
  } catch (error) {
    logUnexpected(error);
  }
}
