/** Connects people's accounts at a vendor behind the slug "alpha", as pages do. */

import { env } from "cloudflare:workers";

import { vaultsIn } from "../../durable-objects/vaults.ts";
import type { Vault, VaultOwner } from "../../src/accounts/vault.ts";
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
  const attempt = { slug: "alpha", origin: ORIGIN, person: person.id };
  const begun = await vaultOf(person).begin(attempt);
  if (begun.kind !== "redirect") throw new Error(begun.problem.code);
  const approved = await fetch(begun.url, { redirect: "manual" });
  const query = new URL(approved.headers.get("location") ?? "").search.slice(1);
  const cookies = { [begun.cookie.name]: begun.cookie.value };
  const outcome = await vaultOf(person).finish({ ...attempt, query, cookies });
  if (outcome.kind !== "connected") throw new Error(JSON.stringify(outcome));
}
