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

interface Identity {
  readonly keys: IdentityKeys;
  /** By the gateway's origin: without PUBLIC_ORIGIN, each loopback host is one. */
  readonly assertions: Map<string, IdentityAssertions>;
}

const made = new WeakMap<Config, Identity>();

function identityOf(env: Env, config: Config): Identity {
  const known = made.get(config);
  if (known !== undefined) return known;
  const ring = async (): Promise<Keyring> => (await authSecretsOf(env, config)).ring;
  const keys = new IdentityKeys(() => registryIn(env), ring);
  const identity: Identity = { keys, assertions: new Map() };
  made.set(config, identity);
  return identity;
}

export function identityKeysOf(env: Env, config: Config): IdentityKeys {
  return identityOf(env, config).keys;
}

/** @param issuer the gateway's origin. */
export function identityAssertionsOf(env: Env, config: Config, issuer: string): IdentityAssertions {
  const { keys, assertions } = identityOf(env, config);
  const known = assertions.get(issuer);
  if (known !== undefined) return known;
  const store = authStoreIn(env);
  const factsOf = async (person: string): Promise<PersonFacts | undefined> =>
    store.ofUser(person).users.find(person);
  const created = new IdentityAssertions({ keys, issuer, factsOf });
  assertions.set(issuer, created);
  return created;
}
