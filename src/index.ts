/** The composition root: the Worker's default export and the Durable Object classes. */

import { authOf } from "../durable-objects/auth-of.ts";
import { AuthShardObject } from "../durable-objects/auth-shard-object.ts";
import { keysOf } from "../durable-objects/keys-of.ts";
import { RegistryObject } from "../durable-objects/registry-object.ts";
import { SessionObject } from "../durable-objects/session-object.ts";
import { createApp } from "./app.ts";
import { sessionsIn } from "../durable-objects/sessions-in.ts";

export { AuthShardObject, RegistryObject, SessionObject };

export default createApp((env, config) => ({
  sessions: sessionsIn(env.SESSIONS),
  keys: keysOf(env, config),
  auth: authOf(env, config),
}));
