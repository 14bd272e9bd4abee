/**
 * Seals every account, and what the gateway is registered as, with the first `VAULT_SECRET`. Afterwards an
 * earlier one can be removed: nothing is left that only it opens.
 */

import type { VaultOwner } from "../accounts/vault.ts";
import { mapLimited } from "../lib/map-limited.ts";
import type { SiteContext } from "./account-context.ts";

/** Vaults that are asked at a time. */
const AT_A_TIME = 20;

/** @returns how many rows were sealed anew. It fails as a whole if a vault cannot be reached, and may be repeated. */
export async function sealAccountsAnew({ accounts, store }: SiteContext): Promise<number> {
  const { vaults } = accounts;
  const users = await Promise.all(store.allOfUsers().map((shard) => shard.users.all()));
  const people = users.flat().filter(({ hasAccounts }) => hasAccounts === true);
  const owners: readonly VaultOwner[] = [
    { kind: "shared" },
    ...people.map(({ id }) => ({ kind: "person", person: id }) as const),
  ];
  const sealed = await mapLimited(owners, AT_A_TIME, (owner) => vaults.of(owner).sealAnew());
  const issuers = [...new Set(sealed.flatMap((each) => each.issuers))];
  const registrations = await mapLimited(issuers, AT_A_TIME, (issuer) =>
    vaults.sealRegistrations(issuer),
  );
  const counts = [...sealed.map((each) => each.accounts), ...registrations];
  return counts.reduce((sum, count) => sum + count, 0);
}
