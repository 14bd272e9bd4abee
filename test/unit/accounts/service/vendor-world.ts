/** A vault before a vendor: everything goes over HTTP as in the gateway, and only the clock is the test's. */

import { inject } from "vitest";

import { register } from "../../../../src/accounts/client/register.ts";
import { egressPolicyFor } from "../../../../src/accounts/discovery/load-metadata.ts";
import { AccountHolders } from "../../../../src/accounts/service/account-holders.ts";
import { AuthorizationServers } from "../../../../src/accounts/service/authorization-servers.ts";
import { Registrations } from "../../../../src/accounts/service/registrations.ts";
import { vaultKeyring } from "../../../../src/accounts/service/vault-keyring.ts";
import { VaultSeal } from "../../../../src/accounts/service/vault-seal.ts";
import { VaultService } from "../../../../src/accounts/service/vault-service.ts";
import type { OAuthSettings, ServerAuth } from "../../../../src/accounts/settings.ts";
import { Accounts } from "../../../../src/accounts/store/accounts.ts";
import { Asks } from "../../../../src/accounts/store/asks.ts";
import { ConnectAttempts } from "../../../../src/accounts/store/connect-attempts.ts";
import { HolderRows } from "../../../../src/accounts/store/holder-rows.ts";
import { RegistrationRows } from "../../../../src/accounts/store/registration-rows.ts";
import type { AccountSummary, FinishRequest } from "../../../../src/accounts/vault.ts";
import type { Sql } from "../../../../src/lib/sql.ts";
import type { Credential, UsableCredential } from "../../../../src/upstream/credentials.ts";
import type { VendorScript } from "../../../support/vendor/script.ts";
import { Vendor } from "../../../support/vendor/vendor.ts";
import { fakeTarget, html } from "../../upstream/fake-target.ts";
import { type SqlFixture, withSql } from "../../lib/sql-fixture.ts";
import { type Begun, OAUTH, root } from "./vault-fixture.ts";

export const ORIGIN = "https://gateway.example";
export const CALLBACK = `${ORIGIN}/oauth/upstream/s/callback`;
const PERSON = "u_alice";
const OWN_HOSTS: ReadonlySet<string> = new Set(["gateway.example"]);
const httpFetch = (url: URL, init: RequestInit): Promise<Response> => fetch(url, init);

/** What an operator may have changed between two lives. */
interface LifeChanges {
  readonly auth?: ServerAuth;
  readonly url?: string;
  /** Of the keys of the vault. */
  readonly root?: Uint8Array;
}

interface WorldOptions {
  readonly script?: VendorScript;
  readonly auth?: (vendor: Vendor) => ServerAuth;
  /** The vault is that of everybody. */
  readonly isShared?: boolean;
}

export const oauth = (more: Partial<OAuthSettings> = {}): ServerAuth => ({
  kind: "oauth",
  oauth: { ...OAUTH, ...more },
});

export function withVendor<T>(
  options: WorldOptions,
  act: (world: VendorWorld) => Promise<T>,
): Promise<T> {
  return withSql(async (fixture) => {
    const vendor = await Vendor.take(inject("vendors"), options.script);
    const world = new VendorWorld(vendor, fixture, options);
    const result = await act(world);
    await world.settled();
    return result;
  });
}

export class VendorWorld {
  readonly vendor: Vendor;
  readonly fixture: SqlFixture;
  /** The events of the audit, with their reasons. */
  readonly audit: string[] = [];
  readonly #options: WorldOptions;
  readonly #background: Promise<unknown>[] = [];
  readonly #issuers: string[] = [];

  constructor(vendor: Vendor, fixture: SqlFixture, options: WorldOptions) {
    this.vendor = vendor;
    this.fixture = fixture;
    this.#options = options;
  }

  /** One life of the vault's object: what is stored outlasts it. */
  life(changed: LifeChanges = {}): VaultService {
    const { sql, clock } = this.fixture;
    const now = (): number => clock.now;
    const { auth = () => oauth(), isShared = false } = this.#options;
    const base = fakeTarget(() => html(500), { slug: "s" });
    const endpoint = new URL(changed.url ?? this.vendor.url);
    const server = {
      target: { ...base, endpoint, fetch: httpFetch, headers: {} },
      auth: changed.auth ?? auth(this.vendor),
    };
    const seal = new VaultSeal(isShared ? "shared" : `person ${PERSON}`, () =>
      vaultKeyring([changed.root ?? root("a")]),
    );
    const registrationsAt = (issuer: string): Registrations =>
      new Registrations({
        rows: new RegistrationRows(this.#ofIssuer(issuer), now),
        seal,
        register: ({ endpoint: address, facts }) =>
          register(address, facts, {
            fetch: httpFetch,
            policy: egressPolicyFor(endpoint, {}, OWN_HOSTS),
          }),
        now,
      });
    const accounts = new Accounts(sql, now);
    return new VaultService({
      isShared,
      serverOf: (slug) => (slug === "s" ? server : undefined),
      accounts,
      attempts: new ConnectAttempts(sql, now),
      asks: new Asks(sql, now),
      holders: new AccountHolders({
        ...{ accounts, now, rows: new HolderRows(sql, now) },
        tell: () => Promise.resolve(),
        retryBy: () => undefined,
      }),
      seal,
      isDisabled: async () => false,
      authorization: new AuthorizationServers({
        fetch: httpFetch,
        ownHosts: OWN_HOSTS,
        origin: ORIGIN,
        registrations: registrationsAt,
      }),
      synced: async () => undefined,
      waitUntil: (promise) => this.#background.push(promise),
      audit: (event, _account, more) => this.audit.push([event, more?.reason].join(" ").trim()),
      announce: () => undefined,
      now,
    });
  }

  /** Each issuer has an object of its own, which is a table of its own here. */
  #ofIssuer(issuer: string): Sql {
    const at = this.#issuers.indexOf(issuer);
    const table = `clients_of_${at === -1 ? this.#issuers.push(issuer) - 1 : at}`;
    const { sql } = this.fixture;
    return {
      exec: (query, ...values) => sql.exec(query.replaceAll("clients_1", table), ...values),
    };
  }

  wait(seconds: number): void {
    this.fixture.clock.now += seconds * 1000;
  }

  /** How much the object does without a caller. */
  get running(): number {
    return this.#background.length;
  }

  /** Waits for what the object does without a caller. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#background.splice(0));
  }
}

export async function beginAt(vault: VaultService, ask?: string): Promise<Begun> {
  const request = { slug: "s", origin: ORIGIN, person: PERSON };
  const begun = await vault.begin({ ...request, ...(ask !== undefined && { ask }) });
  if (begun.kind !== "redirect") throw new Error(begun.problem.code);
  return begun;
}

/** The vendor's person approves. @returns what the browser brings back. */
export async function approve({ url, cookie }: Begun): Promise<FinishRequest> {
  const approved = await fetch(url, { redirect: "manual" });
  await approved.body?.cancel();
  return {
    ...{ slug: "s", origin: ORIGIN, person: PERSON },
    query: new URL(approved.headers.get("location") ?? "").search.slice(1),
    cookies: { [cookie.name]: cookie.value },
  };
}

export async function connectAt(vault: VaultService, ask?: string): Promise<AccountSummary> {
  const outcome = await vault.finish(await approve(await beginAt(vault, ask)));
  if (outcome.kind !== "connected") throw new Error(JSON.stringify(outcome));
  return outcome.account;
}

/** @throws Error when something else is needed first. */
export function usable(credential: Credential): UsableCredential {
  if (credential.kind !== "use") throw new Error(JSON.stringify(credential));
  return credential;
}
