/** The `Vaults` port over a Durable Object namespace. */

import { ownerName } from "../src/accounts/owner-name.ts";
import type { VaultOwner, Vaults } from "../src/accounts/vault.ts";
import { hashOf } from "../src/lib/random.ts";
import { called } from "./ports.ts";

/** Only for people who are signed in: each has an object. */
export function vaultsIn({ VAULTS }: Pick<Env, "VAULTS">): Vaults {
  return {
    of: (owner) => vaultNamed({ VAULTS }, vaultName(owner)),
    sealRegistrations: async (issuer) =>
      (await issuerObject({ VAULTS }, issuer)).sealRegistrations(),
  };
}

export function vaultNamed(
  { VAULTS }: Pick<Env, "VAULTS">,
  name: string,
): ReturnType<Env["VAULTS"]["get"]> {
  return called(VAULTS.getByName(name));
}

/** A person's vault, and the shared one. */
export function vaultName(owner: VaultOwner): string {
  return ownerName(owner);
}

/** Keeps what all vaults are registered as at one issuer. */
export async function issuerObject(
  { VAULTS }: Pick<Env, "VAULTS">,
  issuer: string,
): Promise<ReturnType<Env["VAULTS"]["get"]>> {
  return called(VAULTS.getByName(`issuer ${await hashOf(issuer)}`));
}
