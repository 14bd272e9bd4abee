/** The one registry of the gateway, and the port to the owner's code that it holds. */

import type { OwnerEnrolment } from "../src/auth/identity/owner.ts";
import type { OwnerSetup } from "../src/auth/identity/owner-setup.ts";
import { count } from "../src/observability/costs.ts";
import type { RegistryObject } from "./registry-object.ts";

const REGISTRY_NAME = "registry";

export function registryOf(env: Env): DurableObjectStub<RegistryObject> {
  return env.REGISTRY.getByName(REGISTRY_NAME);
}

export function ownerIn(env: Env): OwnerEnrolment & OwnerSetup {
  /** A stub that has failed stays failed, so each call has its own. */
  const registry = (): DurableObjectStub<RegistryObject> => {
    count("objectRequests");
    return registryOf(env);
  };
  return {
    codeHash: () => registry().ownerCodeHash(),
    beginSetup: () => registry().beginSetup(),
    isSetupToken: (token) => registry().isSetupToken(token),
    finishSetup: (token) => registry().finishSetup(token),
  };
}
