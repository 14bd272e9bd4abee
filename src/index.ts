/** The composition root: the Worker's default export and the Durable Object classes. */

import { authOf } from "../durable-objects/authorization-server.ts";
import { AuthShardObject } from "../durable-objects/auth-shard-object.ts";
import { BridgeObject } from "../durable-objects/bridge-object.ts";
import { bridgesIn } from "../durable-objects/bridges-stub.ts";
import { FanOutObject } from "../durable-objects/fan-out-object.ts";
import { fanOutIn } from "../durable-objects/fan-out-stub.ts";
import { FeedObject } from "../durable-objects/feed-object.ts";
import { feedsIn } from "../durable-objects/feeds-stub.ts";
import { keysOf } from "../durable-objects/session-keys.ts";
import { RegistryObject } from "../durable-objects/registry-object.ts";
import { SessionObject } from "../durable-objects/session-object.ts";
import { createApp } from "./app.ts";
import { sessionsIn } from "../durable-objects/sessions-stub.ts";

export { AuthShardObject, BridgeObject, FanOutObject, FeedObject, RegistryObject, SessionObject };

export default createApp((env, config) => ({
  sessions: sessionsIn(env.SESSIONS),
  feeds: feedsIn(env.FEEDS),
  fanOut: fanOutIn(env.FAN_OUT),
  bridges: bridgesIn(env.BRIDGES),
  keys: keysOf(env, config),
  auth: authOf(env, config),
}));
