/** Connects an account at a vendor, as the pages do, for a person who approves at once. */

import type { AccountSummary, Vault } from "../../../src/accounts/vault.ts";

interface Attempt {
  readonly slug: string;
  /** Of the gateway. */
  readonly origin: string;
  readonly person: string;
}

/**
 * @param vault is found anew for each step: its object may be killed in between.
 * @throws where the vendor, or the vault, refuses.
 */
export async function connectAccount(
  vault: () => Vault,
  attempt: Attempt,
): Promise<AccountSummary> {
  const begun = await vault().begin(attempt);
  if (begun.kind !== "redirect") throw new Error(begun.problem.code);
  const approved = await fetch(begun.url, { redirect: "manual" });
  const query = new URL(approved.headers.get("location") ?? "").search.slice(1);
  const cookies = { [begun.cookie.name]: begun.cookie.value };
  const outcome = await vault().finish({ ...attempt, query, cookies });
  if (outcome.kind !== "connected") throw new Error(JSON.stringify(outcome));
  return outcome.account;
}
