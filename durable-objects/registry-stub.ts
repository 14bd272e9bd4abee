/** There is one registry for the whole gateway. */

import type { RegistryObject } from "./registry-object.ts";

const REGISTRY_NAME = "registry";

export function registryOf(env: Env): DurableObjectStub<RegistryObject> {
  return env.REGISTRY.getByName(REGISTRY_NAME);
}
