/** Vaults in memory, as the pages see them: accounts, links and attempts, each in the vault of its owner. */

import type { OAuthSettings } from "../../src/accounts/settings.ts";
import type { AccountServer } from "../../src/pages/account-context.ts";
import type {
  AccountSummary,
  BeginOutcome,
  BeginRequest,
  ConnectOffer,
  ConnectProblem,
  FinishOutcome,
  FinishRequest,
  SealedAnew,
  Vault,
  VaultOwner,
  Vaults,
} from "../../src/accounts/vault.ts";

export const VENDOR = "https://login.vendor.example";

const OAUTH: OAuthSettings = {
  ...{ registration: ["dcr"], pkce: "required", legacy: false, catalog: "user" },
};

function server(slug: string, auth: AccountServer["auth"]): [string, AccountServer] {
  return [slug, { slug, url: `https://${slug}.example/mcp`, auth }];
}

/** A server of each kind. */
export const SERVERS: ReadonlyMap<string, AccountServer> = new Map([
  server("s", { kind: "oauth", oauth: { ...OAUTH, label: "Server S" } }),
  server("other", { kind: "oauth", oauth: OAUTH }),
  server("all", { kind: "oauth-shared", oauth: OAUTH }),
  server("keyed", { kind: "key", key: { header: "Authorization", prefix: "Bearer " } }),
  server("own", { kind: "client-credentials", oauth: OAUTH }),
]);

interface Attempt {
  readonly slug: string;
  readonly cookie: string;
  readonly person: string;
}

const NEVER = (): Promise<never> => Promise.reject(new Error("No page asks this"));

export class FakeVault implements Vault {
  readonly kept = new Map<string, AccountSummary>();
  readonly asks = new Set<string>();
  readonly attempts = new Map<string, Attempt>();
  readonly begun: BeginRequest[] = [];
  readonly finished: FinishRequest[] = [];
  /** In place of what would be offered. */
  problem: ConnectProblem | undefined;
  /** In place of a connection. */
  failure: ConnectProblem | undefined;
  unanswered = 0;
  /** It fails when it is asked for accounts, as an object that cannot be reached. */
  isSilent = false;
  credential = NEVER;
  lacking = NEVER;
  connected = NEVER;
  announce = NEVER;
  account = NEVER;
  ended = 0;
  /** Rows that an earlier key has sealed. */
  old = 0;

  keep(slug: string, more: Partial<AccountSummary> = {}): AccountSummary {
    const account: AccountSummary = {
      ...{ slug, accountId: crypto.randomUUID(), kind: "oauth", state: "connected" },
      ...{ issuer: VENDOR, requested: ["read", "write"], granted: ["read"] },
      ...{ missing: ["write"] },
      connectedAt: Date.now(),
      ...more,
    };
    this.kept.set(slug, account);
    return account;
  }

  async accounts(): Promise<readonly AccountSummary[]> {
    if (this.isSilent) throw new Error("The vault cannot be reached");
    return [...this.kept.values()];
  }

  async offer(slug: string, ask: string | undefined): Promise<ConnectOffer> {
    const known = this.kept.get(slug);
    const account = known === undefined ? {} : { account: known };
    if (this.problem !== undefined) return { kind: "problem", problem: this.problem, ...account };
    const isAsked = ask !== undefined && this.asks.has(ask);
    if (slug === "keyed") return { kind: "key", ...account, isAsked };
    return {
      ...{ kind: "oauth", issuer: VENDOR, authorizationEndpoint: `${VENDOR}/authorize` },
      ...{ scopes: ["read", "write"], registration: "dcr", unanswered: this.unanswered },
      ...{ ...account, isAsked },
    };
  }

  async begin(request: BeginRequest): Promise<BeginOutcome> {
    this.begun.push(request);
    const { slug, person, ask } = request;
    if (ask !== undefined && !this.asks.has(ask)) {
      return { kind: "problem", problem: { code: "unknown-link" } };
    }
    const [state, secret] = [crypto.randomUUID(), crypto.randomUUID()];
    const name = `__Host-edgeway-connect-${state.slice(0, 6)}`;
    this.attempts.set(state, { slug, person, cookie: `${name}=${secret}` });
    const url = `${VENDOR}/authorize?state=${state}`;
    return { kind: "redirect", url, cookie: { name, value: secret, seconds: 600 } };
  }

  async finish(request: FinishRequest): Promise<FinishOutcome> {
    this.finished.push(request);
    const { slug, person, query, cookies } = request;
    const state = new URLSearchParams(query).get("state") ?? "";
    const attempt = this.attempts.get(state);
    const sent = Object.entries(cookies).map(([name, value]) => `${name}=${value}`);
    if (attempt?.slug !== slug || attempt.person !== person || !sent.includes(attempt.cookie)) {
      return { kind: "unknown" };
    }
    if (this.failure !== undefined) return { kind: "problem", problem: this.failure };
    const account = this.keep(slug);
    return { kind: "connected", account };
  }

  async enterKey(slug: string, key: string): Promise<FinishOutcome> {
    if (key.length > 8192 || !/^[\x20-\x7e]+$/.test(key)) {
      return { kind: "problem", problem: { code: "malformed-key" } };
    }
    if (this.failure !== undefined) return { kind: "problem", problem: this.failure };
    const account = this.keep(slug, { kind: "key", keyEnd: key.slice(-4) });
    return { kind: "connected", account };
  }

  async disconnect(slug: string): Promise<"disconnected" | "none"> {
    return this.kept.delete(slug) ? "disconnected" : "none";
  }

  async sealAnew(): Promise<SealedAnew> {
    const count = this.old;
    this.old = 0;
    return { accounts: count, issuers: count === 0 ? [] : [VENDOR] };
  }

  async disconnectAll(): Promise<void> {
    this.kept.clear();
    this.ended += 1;
  }
}

export class FakeVaults implements Vaults {
  readonly #vaults = new Map<string, FakeVault>();
  /** Whose registrations were sealed anew. */
  readonly issuers: string[] = [];

  async sealRegistrations(issuer: string): Promise<number> {
    this.issuers.push(issuer);
    return 1;
  }

  of(owner: VaultOwner): FakeVault {
    const name = owner.kind === "person" ? owner.person : "shared";
    const vault = this.#vaults.get(name) ?? new FakeVault();
    this.#vaults.set(name, vault);
    return vault;
  }

  ofPerson(person: string): FakeVault {
    return this.of({ kind: "person", person });
  }

  get shared(): FakeVault {
    return this.of({ kind: "shared" });
  }
}
