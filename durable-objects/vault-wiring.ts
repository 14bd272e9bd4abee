/** The parts of a vault's object: the service of an owner, or the registrations of an issuer. */

import { register } from "../src/accounts/client/register.ts";
import { egressPolicyFor } from "../src/accounts/discovery/load-metadata.ts";
import { AccountHolders } from "../src/accounts/service/account-holders.ts";
import { AuthorizationServers } from "../src/accounts/service/authorization-servers.ts";
import { Registrations } from "../src/accounts/service/registrations.ts";
import { VaultSeal } from "../src/accounts/service/vault-seal.ts";
import { VaultService } from "../src/accounts/service/vault-service.ts";
import { Accounts } from "../src/accounts/store/accounts.ts";
import { Asks } from "../src/accounts/store/asks.ts";
import { ConnectAttempts } from "../src/accounts/store/connect-attempts.ts";
import { HolderRows } from "../src/accounts/store/holder-rows.ts";
import { RegistrationRows } from "../src/accounts/store/registration-rows.ts";
import type { VaultOwner } from "../src/accounts/vault.ts";
import type { Config } from "../src/config/config.ts";
import type { Server } from "../src/endpoint/server.ts";
import { auditLine } from "../src/observability/audit.ts";
import { authStoreIn } from "./auth-store-stub.ts";
import { egressOf } from "./configured-egress.ts";
import { tellHolder } from "./held-accounts.ts";
import { vaultKeysOf } from "./keys.ts";
import { meteredSql } from "./metered-sql.ts";
import { issuerObject } from "./vaults.ts";

export interface VaultParts {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  readonly config: Config;
  /** As it is configured now. */
  readonly serverOf: (slug: string) => Server | undefined;
  /** Of the object. */
  readonly name: string;
}

interface VaultCalls {
  /** The owner has another account at a server than before (`connected`), or none. */
  readonly announce: (connected?: string) => void;
  /** Has the alarm fire by a time. */
  readonly retryBy: (at: number) => void;
}

const now = (): number => Date.now();

export function vaultServiceOf(
  { ctx, env, config, serverOf, name }: VaultParts,
  owner: VaultOwner,
  { announce, retryBy }: VaultCalls,
): VaultService {
  const sql = meteredSql(ctx.storage.sql);
  const { fetch, policy } = egressOf(config);
  const accounts = new Accounts(sql);
  return new VaultService({
    isShared: owner.kind === "shared",
    serverOf,
    accounts,
    attempts: new ConnectAttempts(sql),
    asks: new Asks(sql),
    holders: new AccountHolders({
      ...{ accounts, now, rows: new HolderRows(sql) },
      tell: (holder, ended) => tellHolder(env, holder, ended),
      retryBy,
    }),
    seal: new VaultSeal(name, () => vaultKeysOf(env, config)),
    async isDisabled() {
      if (owner.kind !== "person") return false;
      const user = await authStoreIn(env).ofUser(owner.person).users.find(owner.person);
      return user?.isDisabled === true;
    },
    authorization: new AuthorizationServers({
      fetch,
      ownHosts: policy.ownHosts,
      origin: config.publicOrigin,
      registrations: (issuer) => ({
        register: async (request) => (await issuerObject(env, issuer)).register(request),
        forget: async (...names) => (await issuerObject(env, issuer)).forget(...names),
      }),
    }),
    synced: () => ctx.storage.sync(),
    waitUntil: (promise) => ctx.waitUntil(promise),
    audit(event, { slug = "", issuer, id }, { person, reason } = {}) {
      // People's own deeds are in their audit log: the pages write them there.
      if (event !== "refresh_failed" && event !== "moved") return;
      auditLine(person ?? (owner.kind === "person" ? owner.person : ""), `account_${event}`, {
        server: slug,
        ...(issuer !== undefined && { issuer: new URL(issuer.issuer).host }),
        ...(id !== undefined && { account: id }),
        ...(reason !== undefined && { reason }),
      });
    },
    announce,
    now,
  });
}

export function registrationsOf({ ctx, env, config, serverOf, name }: VaultParts): Registrations {
  const { fetch, policy } = egressOf(config);
  return new Registrations({
    rows: new RegistrationRows(meteredSql(ctx.storage.sql)),
    seal: new VaultSeal(name, () => vaultKeysOf(env, config)),
    async register({ endpoint, facts, server }) {
      const found = serverOf(server);
      if (found === undefined) return { kind: "failed", trouble: "registration-failed" };
      const settings = "oauth" in found.auth ? found.auth.oauth : {};
      const egress = egressPolicyFor(found.target.endpoint, settings, policy.ownHosts);
      return register(endpoint, facts, { fetch, policy: egress });
    },
    now,
  });
}
