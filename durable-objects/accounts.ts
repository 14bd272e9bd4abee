/** What the pages need of accounts at servers: which servers ask for one, and the vaults. */

import type { Config } from "../src/config/config.ts";
import type { Server } from "../src/endpoint/server.ts";
import type { Accounts, AccountServer } from "../src/pages/account-context.ts";
import { vaultsIn } from "./vaults.ts";

export function accountsIn(
  env: Parameters<typeof vaultsIn>[0],
  { servers }: Pick<Config, "servers">,
): Accounts {
  const known = [...servers.values()].flatMap((server) => accountServer(server) ?? []);
  return { servers: new Map(known.map((server) => [server.slug, server])), vaults: vaultsIn(env) };
}

function accountServer({ slug, label, target, auth }: Server): AccountServer | undefined {
  if (!("oauth" in auth || "key" in auth)) return undefined;
  return { slug, ...(label !== undefined && { label }), url: target.endpoint.href, auth };
}
