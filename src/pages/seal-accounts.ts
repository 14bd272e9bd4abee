/**
 * Seals every account, what the gateway is registered as, and the secrets of added servers, with the first
 * `VAULT_SECRET`. Afterwards an earlier one can be removed: nothing is left that only it opens.
 */

import type { VaultOwner } from "../accounts/vault.ts";
import { mapLimited } from "../lib/map-limited.ts";
import type { OperatorContext } from "./account-context.ts";

/** Vaults that are asked at a time. */
const AT_A_TIME = 20;

/** @returns how many rows were sealed anew. It fails as a whole if a vault cannot be reached, and may be repeated. */
export async function sealAllAnew({ accounts, servers, auth }: OperatorContext): Promise<number> {
  const { vaults } = accounts;
  // Without sign-in nobody has an account of their own.
  const shards = auth?.store.allOfUsers() ?? [];
  const users = await Promise.all(shards.map((shard) => shard.users.all()));
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
  const added = await servers.added.sealAnew();
  const counts = [...sealed.map((each) => each.accounts), ...registrations, added];
  return counts.reduce((sum, count) => sum + count, 0);
}
