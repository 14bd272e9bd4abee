/** The authorization server of the Worker and the objects: engine, records, keys and providers. */

import type { AuthBacking } from "../src/auth/context/context.ts";
import { identityProviders } from "../src/auth/identity/identity-providers.ts";
import { ProviderDocuments } from "../src/auth/identity/provider-documents.ts";
import { Authorities, type AuthorityEnv } from "../src/auth/oauth/engine/authority.ts";
import { ClientKeys } from "../src/auth/clients/assertion-keys.ts";
import { asVerified } from "../src/auth/clients/client-document.ts";
import { KvAdapter } from "../src/auth/store/kv-adapter.ts";
import type { Config } from "../src/config/config.ts";
import { registryIn } from "./ports.ts";
import { authStoreIn } from "./auth-store-stub.ts";
import { slugsOf } from "../src/endpoint/endpoint.ts";
import { egressOf } from "./configured-egress.ts";
import { authSecretsOf } from "./keys.ts";

const HOUR_SECONDS = 3600;

const made = new WeakMap<Config, AuthBacking>();

/** One for the life of an isolate, like its configuration. */
export function authOf(env: Env, config: Config): AuthBacking {
  const known = made.get(config);
  if (known !== undefined) return known;
  const backing = make(env, config);
  made.set(config, backing);
  return backing;
}

function make(env: Env, config: Config): AuthBacking {
  const { limits } = config;
  const store = authStoreIn(env);
  const engine: AuthorityEnv = {
    OAUTH_KV: new KvAdapter({
      rowsOf: (shard) => store.shard(shard).rows,
      documentOf: async (clientId) => {
        const outcome = await store.ofDocument(clientId).documents.find(clientId);
        // A client that must prove a key did so before the request came this far.
        return outcome.kind === "client" ? asVerified(outcome.client) : null;
      },
      codeSeconds: limits.codeSeconds,
      unusedClientSeconds: limits.unusedRegistrationHours * HOUR_SECONDS,
    }),
  };
  const { fetch } = egressOf(config);
  const owner = () => registryIn(env);
  const documents = new ProviderDocuments();
  const providers = identityProviders(config.identity, {
    fetch,
    enrolment: owner,
    documents,
    codeMac: async (codeHash) => (await authSecretsOf(env, config)).ownerCodeMac(codeHash),
  });
  return {
    store,
    engine,
    clientKeys: new ClientKeys(egressOf(config)),
    authorities: new Authorities(slugsOf(config), limits, config.isPublishingOn),
    secrets: () => authSecretsOf(env, config),
    setup: owner,
    providers: new Map(providers.map((provider) => [provider.name, provider])),
  };
}
