/** The owner's code of this gateway, as the Worker and the objects reach it. */

import type { OwnerEnrolment } from "../src/auth/identity/owner.ts";
import type { OwnerSetup } from "../src/auth/identity/owner-setup.ts";
import { count } from "../src/observability/costs.ts";
import type { RegistryObject } from "./registry-object.ts";
import { registryOf } from "./registry-stub.ts";

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
