/** Connects people's accounts at a vendor behind the slug "alpha", as pages do. */

import { env } from "cloudflare:workers";

import { vaultsIn } from "../../durable-objects/vaults.ts";
import type { Vault, VaultOwner } from "../../src/accounts/vault.ts";
import { connectAccount } from "../support/vendor/connect-account.ts";
import type { Vendor } from "../support/vendor/vendor.ts";
import { ORIGIN } from "./gateway.ts";
import type { Person } from "./people.ts";

export const ALPHA = `${ORIGIN}/mcp/alpha`;

export function ownerOf({ id }: Person): VaultOwner {
  return { kind: "person", person: id };
}

export function vaultOf(person: Person): Vault {
  return vaultsIn(env).of(ownerOf(person));
}

export async function connect(
  vendor: Vendor,
  person: Person,
  user: "alice" | "bob",
): Promise<void> {
  await vendor.change({ signedIn: user });
  await connectAccount(() => vaultOf(person), { slug: "alpha", origin: ORIGIN, person: person.id });
}
