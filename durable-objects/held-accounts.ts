/** Has the vaults tell an object when an account ends of which it keeps something. */

import { HeldAccounts } from "../src/accounts/held-accounts.ts";
import type { Holder } from "../src/accounts/store/holder-rows.ts";
import { retry } from "../src/lib/retry.ts";
import { count } from "../src/observability/costs.ts";
import type { EndedAccount } from "../src/upstream/credentials.ts";
import { called } from "./ports.ts";
import { vaultNamed } from "./vaults.ts";

const RETRIES = { attempts: 5, backoff: { firstMs: 100 } };
/** The accounts whose vaults have answered. An object of an earlier version has no such row, and asks. */
const NOTED = "held_1";

/** @param onEnded called when an account is over before its vault has the object on record. */
export function heldAccountsOf(
  ctx: DurableObjectState,
  env: Env,
  kind: Holder["kind"],
  onEnded: (ended: EndedAccount) => Promise<void>,
): HeldAccounts {
  const { kv } = ctx.storage;
  const object = ctx.id.toString();
  return new HeldAccounts({
    hold: ({ slug, accountId, owner }) =>
      retry(() => vaultNamed(env, owner).hold({ slug, accountId, kind, object }), RETRIES),
    release: (owner) => vaultNamed(env, owner).release(object),
    read: () => {
      count("rowsRead");
      return kv.get<readonly string[]>(NOTED) ?? [];
    },
    write: (accountIds) => {
      count("rowsWritten");
      kv.put(NOTED, accountIds);
    },
    onEnded,
    waitUntil: (promise) => ctx.waitUntil(promise),
  });
}

/** Tells an object that keeps something of an account. */
export async function tellHolder(
  { FEEDS: feed, SESSIONS: session, BRIDGES: bridge }: Pick<Env, "FEEDS" | "SESSIONS" | "BRIDGES">,
  { kind, object }: Holder,
  ended: EndedAccount,
): Promise<void> {
  const holders = { feed, session, bridge }[kind];
  await called(holders.get(holders.idFromString(object))).accountEnded(ended);
}
