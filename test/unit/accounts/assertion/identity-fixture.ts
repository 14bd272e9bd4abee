/** A store of identity keys in memory, and rings that seal them. */

import {
  type IdentityKeyStore,
  type StoredIdentityKey,
  withIdentityKey,
} from "../../../../src/accounts/assertion/identity-keys.ts";
import { importKey, type Keyring } from "../../../../src/lib/seal.ts";

export function identityKeyStore(now: () => number): IdentityKeyStore {
  let keys: readonly StoredIdentityKey[] = [];
  return {
    identityKeys: () => Promise.resolve(keys),
    addIdentityKey(key, lost) {
      keys = withIdentityKey(keys, key, lost, now());
      return Promise.resolve(keys);
    },
  };
}

/** @returns a ring with a key made from the name. */
export async function ringOf(name: string): Promise<() => Promise<Keyring>> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name));
  const key = await importKey(new Uint8Array(bytes));
  return () => Promise.resolve({ currentId: name, keys: new Map([[name, key]]) });
}
