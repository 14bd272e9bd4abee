/** The identity assertions of the Worker and the objects: keys in the registry, facts from sign-in. */

import {
  IdentityAssertions,
  type PersonFacts,
} from "../src/accounts/assertion/identity-assertion.ts";
import { IdentityKeys } from "../src/accounts/assertion/identity-keys.ts";
import type { Keyring } from "../src/lib/seal.ts";
import type { Config } from "../src/config/config.ts";
import { authStoreIn } from "./auth-store-stub.ts";
import { authSecretsOf } from "./keys.ts";
import { registryIn } from "./ports.ts";
import { vaultsIn } from "./vaults.ts";
import type { PersonalScope } from "../src/endpoint/personal-endpoint.ts";

interface Identity {
  readonly keys: IdentityKeys;
  readonly assertions: IdentityAssertions;
}

const made = new WeakMap<Config, Identity>();

function identityOf(env: Env, config: Config): Identity {
  const known = made.get(config);
  if (known !== undefined) return known;
  const ring = async (): Promise<Keyring> => (await authSecretsOf(env, config)).ring;
  const keys = new IdentityKeys(() => registryIn(env), ring);
  const store = authStoreIn(env);
  const factsOf = async (person: string): Promise<PersonFacts | undefined> =>
    store.ofUser(person).users.find(person);
  const identity = { keys, assertions: new IdentityAssertions({ keys, factsOf }) };
  made.set(config, identity);
  return identity;
}

export function identityKeysOf(env: Env, config: Config): IdentityKeys {
  return identityOf(env, config).keys;
}

/** What makes an endpoint a caller's own: their accounts, and the assertions of who they are. */
export function personalScopeOf(env: Env, config: Config): PersonalScope {
  return {
    vaults: vaultsIn(env),
    cacheSeconds: config.limits.credentialCacheSeconds,
    assertion: (settings, caller) => identityOf(env, config).assertions.of(settings, caller),
  };
}
