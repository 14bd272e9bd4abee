/** The keys for session ids: the operator's, or those that the registry made. */

import type { Config } from "../src/config/config.ts";
import { SessionKeys } from "../src/endpoint/keyring.ts";
import { registryIn } from "./ports.ts";

let cached: { readonly config: Config; readonly keys: SessionKeys } | undefined;

/** One for the life of an isolate, like its configuration. */
export function keysOf(env: Env, config: Config): SessionKeys {
  if (cached?.config !== config) cached = { config, keys: new SessionKeys(sourceOf(env, config)) };
  return cached.keys;
}

function sourceOf(env: Env, { sessionKeys }: Config): () => Promise<readonly string[]> {
  if (sessionKeys !== undefined) return () => Promise.resolve(sessionKeys);
  return () => registryIn(env).sessionKeys();
}
