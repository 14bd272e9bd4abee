/** The composition root: the Worker's default export and the Durable Object classes. */

import { waitUntil } from "cloudflare:workers";

import { ActivityObject } from "../durable-objects/activity-object.ts";
import { accountsIn } from "../durable-objects/accounts.ts";
import { activitiesIn } from "../durable-objects/activities.ts";
import { authOf } from "../durable-objects/authorization-server.ts";
import { AuthShardObject } from "../durable-objects/auth-shard-object.ts";
import { activityOfIsolate, callSinksIn } from "../durable-objects/call-sinks.ts";
import { BridgeObject } from "../durable-objects/bridge-object.ts";
import { bridgesIn } from "../durable-objects/bridges.ts";
import { ConnectorObject } from "../durable-objects/connector-object.ts";
import { publishingIn } from "../durable-objects/connectors.ts";
import { fanOutIn } from "../durable-objects/fan-out.ts";
import { FanOutObject } from "../durable-objects/fan-out-object.ts";
import { FeedObject } from "../durable-objects/feed-object.ts";
import { gatewayServersIn, lookAtStart } from "../durable-objects/gateway-servers.ts";
import { identityKeysOf, personalScopeOf } from "../durable-objects/identity.ts";
import { sessionKeysOf } from "../durable-objects/keys.ts";
import { freshConfig, knownConfig } from "../durable-objects/live-config.ts";
import { feedsIn, sessionsIn } from "../durable-objects/ports.ts";
import { RegistryObject } from "../durable-objects/registry-object.ts";
import { SessionObject } from "../durable-objects/session-object.ts";
import { tracerHere } from "../durable-objects/tracing.ts";
import { VaultObject } from "../durable-objects/vault-object.ts";
import { createApp } from "./app.ts";
import type { Backing } from "./request-context.ts";
import type { Config } from "./config/config.ts";
import { logEntry } from "./observability/gateway-log.ts";

export {
  ActivityObject,
  AuthShardObject,
  BridgeObject,
  ConnectorObject,
  FanOutObject,
  FeedObject,
  RegistryObject,
  SessionObject,
  VaultObject,
};

let cached: { readonly config: Config; readonly backing: Backing } | undefined;

/** One for as long as the configuration stays as it is. */
function backingOf(env: Env, config: Config): Backing {
  if (cached?.config === config) return cached.backing;
  // Calls wait in it to be written.
  const activity =
    cached?.config.activity === config.activity
      ? cached.backing.activity
      : activityOfIsolate(env, config);
  const backing: Backing = {
    sessions: sessionsIn(env),
    feeds: feedsIn(env),
    fanOut: fanOutIn(env),
    bridges: bridgesIn(env),
    keys: sessionKeysOf(env, config),
    auth: authOf(env, config),
    personal: personalScopeOf(env, config),
    identityKeys: identityKeysOf(env, config),
    accounts: accountsIn(env, config),
    publishing: publishingIn(env, config),
    servers: gatewayServersIn(env, config),
    sinks: callSinksIn(env, activity),
    activity,
    activities: activitiesIn(env),
    tracer: tracerHere,
  };
  const logged = cached?.config.notices;
  cached = { config, backing };
  // Here, since this happens once for a configuration.
  config.notices.filter((notice) => logged?.includes(notice) !== true).forEach(logEntry);
  waitUntil(lookAtStart(env, config));
  return backing;
}

export default createApp({ fresh: freshConfig, known: knownConfig }, backingOf);
