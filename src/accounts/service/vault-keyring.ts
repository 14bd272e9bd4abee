/** The keys of vaults. They are derived for this purpose alone: no other key of the gateway opens a vault. */

import { deriveBytes } from "../../lib/derive-bytes.ts";
import { importKey, keyId, type Keyring, type SealKey } from "../../lib/seal.ts";

const PURPOSE = "edgeway/vault/1";

/**
 * @param roots the first one seals, all of them open. The operator's `VAULT_SECRET`s, and last the root of
 *   the keys of sign-in, which seals where the operator has set none: what it sealed opens later, too.
 */
export async function vaultKeyring(roots: readonly Uint8Array[]): Promise<Keyring> {
  const keys = await Promise.all(
    roots.map(async (root): Promise<[string, SealKey]> => {
      const bytes = await deriveBytes(root, PURPOSE);
      return [await keyId(bytes), await importKey(bytes)];
    }),
  );
  const [current] = keys;
  if (current === undefined) throw new Error("There is no key to seal accounts with");
  return { currentId: current[0], keys: new Map(keys) };
}
