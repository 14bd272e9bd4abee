/** The `Vaults` port over a Durable Object namespace. */

import { ownerName } from "../src/accounts/owner-name.ts";
import type { VaultOwner, Vaults } from "../src/accounts/vault.ts";
import { called } from "./ports.ts";

/** Only for people who are signed in: each has an object. */
export function vaultsIn({ VAULTS }: Pick<Env, "VAULTS">): Vaults {
  return { of: (owner) => called(VAULTS.getByName(vaultName(owner))) };
}

/** A person's vault, and the shared one. */
export function vaultName(owner: VaultOwner): string {
  return ownerName(owner);
}
