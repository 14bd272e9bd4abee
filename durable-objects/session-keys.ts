/** The keys of this gateway's session ids: the operator's, or those that the registry made. */

import type { Config } from "../src/config/config.ts";
import { count } from "../src/observability/costs.ts";
import { SessionKeys } from "../src/endpoint/keyring.ts";
import { registryOf } from "./registry-stub.ts";

let cached: { readonly config: Config; readonly keys: SessionKeys } | undefined;

/** The keys as this isolate knows them; the configuration is the same object for its whole life. */
export function keysOf(env: Env, config: Config): SessionKeys {
  if (cached?.config !== config) cached = { config, keys: new SessionKeys(sourceOf(env, config)) };
  return cached.keys;
}

function sourceOf(env: Env, { sessionKeys }: Config): () => Promise<readonly string[]> {
  if (sessionKeys !== undefined) return () => Promise.resolve(sessionKeys);
  return () => {
    count("objectRequests");
    return registryOf(env).sessionKeys();
  };
}
