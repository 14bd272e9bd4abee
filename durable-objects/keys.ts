/**
 * The keys of the gateway: the operator's, or those that the registry made. What is derived from them
 * is cached for the life of an isolate, like its configuration.
 */

import { type AuthSecrets, authSecretsFrom } from "../src/auth/secrets.ts";
import type { Config } from "../src/config/config.ts";
import { vaultKeyring } from "../src/accounts/service/vault-keyring.ts";
import { SessionKeys } from "../src/endpoint/keyring.ts";
import { fromBase64Url } from "../src/lib/base64url.ts";
import type { Keyring } from "../src/lib/seal.ts";
import { registryIn } from "./ports.ts";

const session = new WeakMap<Config, SessionKeys>();
const vaults = new WeakMap<Config, Keyring>();
const signIn = new WeakMap<Config, AuthSecrets>();

/** For session ids. */
export function sessionKeysOf(env: Env, config: Config): SessionKeys {
  const known = session.get(config);
  if (known !== undefined) return known;
  const keys = new SessionKeys(async () => config.sessionKeys ?? registryIn(env).sessionKeys());
  session.set(config, keys);
  return keys;
}

/** For vaults: see `vaultKeyring`. */
export async function vaultKeysOf(env: Env, config: Config): Promise<Keyring> {
  const known = vaults.get(config);
  if (known !== undefined) return known;
  const root = config.authSecret ?? (await registryIn(env).authRoot());
  const ring = await vaultKeyring(
    [...config.vaultSecrets, root].map((text) => fromBase64Url(text) ?? new Uint8Array()),
  );
  vaults.set(config, ring);
  return ring;
}

/** For sign-in. Their root never changes. */
export async function authSecretsOf(env: Env, config: Config): Promise<AuthSecrets> {
  const known = signIn.get(config);
  if (known !== undefined) return known;
  const bytes = fromBase64Url(config.authSecret ?? (await registryIn(env).authRoot()));
  if (bytes === undefined) throw new Error("The root of the keys of sign-in is broken");
  const secrets = await authSecretsFrom(bytes);
  signIn.set(config, secrets);
  return secrets;
}
