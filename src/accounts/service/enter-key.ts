/** An API key becomes an account: it is tried with one request to its server, and sealed. */

import type { Account } from "../account.ts";
import { problem } from "./account-summary.ts";
import type { AccountServer, Authorization } from "./authorization.ts";
import { headerOf, keyAccount } from "./credential-header.ts";
import type { VaultSeal } from "./vault-seal.ts";

export interface KeyEntryOptions {
  readonly serverOf: (slug: string) => AccountServer | undefined;
  readonly seal: VaultSeal;
  readonly authorization: Pick<Authorization, "tryKey">;
  readonly now: () => number;
}

/** @returns what is to be stored; nothing is, of a key that the server has not accepted. */
export async function enterKey(
  { serverOf, seal, authorization, now }: KeyEntryOptions,
  slug: string,
  key: string,
): Promise<{ kind: "account"; account: Account; sealed: string } | ReturnType<typeof problem>> {
  const server = serverOf(slug);
  if (server?.auth.kind !== "key") return problem("not-connected");
  if (headerOf(server.auth, { apiKey: key }) === undefined) return problem("malformed-key");
  const tried = await authorization.tryKey(server, key);
  if (tried !== "accepted") return problem(tried === "refused" ? "key-refused" : "key-untried");
  const account = keyAccount(slug, server, key, now());
  return { kind: "account", account, sealed: await seal.sealSecrets(account, { apiKey: key }) };
}
