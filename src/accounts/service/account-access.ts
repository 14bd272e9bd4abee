/**
 * The accounts as requests see them: the account of a server as it is now, its credential, what its server
 * refused, and what a person has to do where there is nothing to use.
 */

import type { AccountNeed, Credential } from "../../upstream/credentials.ts";
import { type Account, aged, moved, refusedBy } from "../account.ts";
import { isIssuer } from "../discovery/server-metadata.ts";
import type { Accounts, StoredAccount } from "../store/accounts.ts";
import type { Trouble } from "../trouble.ts";
import type { AccountServer } from "./authorization.ts";
import { headerOf, operatorScopes, ownAccount } from "./credential-header.ts";
import type { ConnectLinks } from "./links.ts";
import type { VaultSeal } from "./vault-seal.ts";

export interface AccountAccessOptions {
  /** The vault is that of everybody: only an operator can connect its accounts. */
  readonly isShared: boolean;
  readonly accounts: Accounts;
  readonly links: ConnectLinks;
  readonly seal: VaultSeal;
  readonly onChange: (account: Account, before: Account) => void;
  /** The gateway's own account has taken the place of this one. */
  readonly onReplaced: (before: StoredAccount) => void;
  readonly now: () => number;
}

const HOUR_MS = 3_600_000;

export class AccountAccess {
  readonly #options: AccountAccessOptions;

  constructor(options: AccountAccessOptions) {
    this.#options = options;
  }

  /**
   * An account that could not be opened is given out as one to be connected again. Its row stays as it is: it opens
   * once the operator has put the removed secret back.
   *
   * @returns the account as it is now; one of another server or kind is not given out.
   */
  current(slug: string, server: AccountServer): Account | undefined {
    const { accounts, seal, now } = this.#options;
    const found = accounts.find(slug);
    const stored = found?.account;
    if (server.auth.kind === "client-credentials" && !this.#isOwnOf(stored, server)) {
      return this.#makeOwn(slug, server, found);
    }
    if (stored === undefined || !isOfKind(stored, server)) return undefined;
    const account = isForServer(stored, server) ? aged(stored, now()) : moved(stored);
    if (account !== stored) {
      accounts.change(account);
      this.#options.onChange(account, stored);
    }
    return seal.isUnopened(account) ? unopened(account) : account;
  }

  /** Nobody could connect the gateway's own account again: where it is of no use, another one is made. */
  #isOwnOf(stored: Account | undefined, server: AccountServer): boolean {
    if (stored?.kind !== "client-credentials") return false;
    const isOver = stored.life === "moved" || stored.life === "ended";
    return !isOver && !this.#options.seal.isUnopened(stored) && isAsMade(stored, server);
  }

  #makeOwn(slug: string, server: AccountServer, before: StoredAccount | undefined): Account {
    const { accounts, onReplaced, now } = this.#options;
    const own = ownAccount(slug, server, now());
    // It needs nobody: it is made when it is first used, and has no secret yet.
    accounts.put(own, "");
    if (before !== undefined) onReplaced(before);
    return own;
  }

  /** Opens each account, so that `current` knows which do not open. Without the keys, all are as they were stored. */
  async tryAll(): Promise<void> {
    const { accounts, seal } = this.#options;
    const all = accounts.all().map(({ account, sealed }) => seal.openSecrets(account, sealed));
    await Promise.all(all).catch(() => undefined);
  }

  /** @returns `undefined` when the account has ended meanwhile, or another one has taken its place. */
  async use(server: AccountServer, { slug, id }: Account): Promise<Credential | undefined> {
    const { accounts, seal, now } = this.#options;
    const stored = accounts.find(slug, id);
    if (stored === undefined) return undefined;
    const opened = await seal.openSecrets(stored.account, stored.sealed);
    const anew = opened?.isOld === true && (await seal.sealSecrets(stored.account, opened.value));
    const found = accounts.find(slug, id);
    if (found === undefined) return undefined;
    const header = opened && headerOf(server.auth, opened.value);
    if (header === undefined) return this.need(slug, "sealed", found.account);
    const hour = now() - (now() % HOUR_MS);
    const account = { ...found.account, usedAt: hour };
    // Not over tokens that came meanwhile, nor over the request for them that was written down.
    if (anew !== false && found.sealed === stored.sealed) accounts.put(account, anew);
    else if (found.account.usedAt !== hour) accounts.change(account);
    const { generation, endpoint } = stored.account;
    return { kind: "use", accountId: id, generation, endpoint, ...header };
  }

  refuse(slug: string, refused: { readonly accountId: string; readonly generation: number }): void {
    const { accounts, now } = this.#options;
    const before = accounts.find(slug, refused.accountId)?.account;
    if (before === undefined) return;
    const account = refusedBy(before, refused.generation, now());
    if (account === before) return;
    accounts.change(account);
    this.#options.onChange(account, before);
  }

  /** What a person has to do; with a shared account, only an administrator can do it. */
  async need(
    slug: string,
    reason: Trouble,
    account: Account | undefined,
    need: "connect" | "scope" = "connect",
    scopes: readonly string[] = account?.wanted ?? [],
  ): Promise<AccountNeed> {
    // Nobody connects the gateway's own account.
    const isConnectable = account?.kind !== "client-credentials";
    if (this.#options.isShared) {
      return { ...operatorNeed(reason, account?.id), ...(isConnectable && { isShared: true }) };
    }
    const ask = await this.#options.links.handle(slug, scopes);
    const known = account === undefined ? {} : { accountId: account.id };
    return { kind: "need", need, reason, ask, ...known };
  }
}

export function operatorNeed(reason: Trouble, accountId?: string): AccountNeed {
  return {
    kind: "need",
    need: "operator",
    reason,
    ...(accountId !== undefined && { accountId }),
  };
}

/** A new login would not help. */
export function forbiddenNeed(accountId: string): AccountNeed {
  return { kind: "need", need: "forbidden", reason: "forbidden", accountId };
}

export function laterNeed(reason: Trouble, accountId: string, until: number): AccountNeed {
  return { kind: "need", need: "later", reason, accountId, until };
}

function unopened(account: Account): Account {
  return { ...account, life: "ended", lifeSince: undefined, trouble: "sealed" };
}

function isOfKind({ kind }: Account, { auth }: AccountServer): boolean {
  return auth.kind === "oauth-shared" ? kind === "oauth" : kind === auth.kind;
}

/** The operator has changed neither the server nor the scopes since the gateway's own account was made. */
function isAsMade(account: Account, server: AccountServer): boolean {
  const { configured, requested } = account;
  const scopes = operatorScopes(server);
  // A row of an earlier version has only what is requested, to which a server may have added since.
  const isSame =
    configured === undefined
      ? scopes.every((scope) => requested.includes(scope))
      : scopes.length === configured.length && scopes.every((s, n) => s === configured[n]);
  return isSame && isForServer(account, server);
}

/** The operator has not given the slug to another server since, or pinned an issuer that discovery takes for another. */
function isForServer({ endpoint, issuer }: Account, { target, auth }: AccountServer): boolean {
  const pinned = "oauth" in auth ? auth.oauth.issuer : undefined;
  const isPinned = pinned === undefined || issuer === undefined || isIssuer(issuer.issuer, pinned);
  return endpoint === target.endpoint.href && isPinned;
}
