/**
 * A vault: the accounts of one owner. `credential` is what requests ask for; the rest is what people do on
 * pages. The parts, in reading order: `account.ts` says what may be done with an account at a time,
 * `account-access.ts` gives its credential out, `token-renewal.ts` fetches new tokens, `connecting.ts` connects it.
 */

import { logUnexpected } from "../../observability/unexpected.ts";
import type { Credential } from "../../upstream/credentials.ts";
import { type Account, decide, isWorking } from "../account.ts";
import { isIssuer } from "../discovery/server-metadata.ts";
import { stepUp } from "../scopes.ts";
import type { Accounts, StoredAccount } from "../store/accounts.ts";
import type { Asks } from "../store/asks.ts";
import type { ConnectAttempts } from "../store/connect-attempts.ts";
import type {
  AccountSummary,
  BeginOutcome,
  BeginRequest,
  ConnectOffer,
  CredentialRequest,
  FinishOutcome,
  FinishRequest,
  LackingRequest,
  SealedAnew,
  Vault,
} from "../vault.ts";
import type { AccountHolders } from "./account-holders.ts";
import { AccountAccess, forbiddenNeed, laterNeed, operatorNeed } from "./account-access.ts";
import { problem, summaryOf } from "./account-summary.ts";
import type { AccountServer, Authorization } from "./authorization.ts";
import { Connecting } from "./connecting.ts";
import { headerOf } from "./credential-header.ts";
import { enterKey } from "./enter-key.ts";
import { ConnectLinks } from "./links.ts";
import { TokenRenewal } from "./token-renewal.ts";
import type { AccountSecrets, VaultSeal } from "./vault-seal.ts";
import { VaultUpkeep } from "./upkeep.ts";
import { Waiters } from "./waiters.ts";

export interface VaultOptions {
  readonly isShared: boolean;
  readonly serverOf: (slug: string) => AccountServer | undefined;
  readonly accounts: Accounts;
  readonly attempts: ConnectAttempts;
  readonly asks: Asks;
  readonly holders: AccountHolders;
  readonly seal: VaultSeal;
  /** Whether an operator has disabled the owner. */
  readonly isDisabled: () => Promise<boolean>;
  readonly authorization: Authorization;
  readonly synced: () => Promise<void>;
  readonly waitUntil: (promise: Promise<unknown>) => void;
  readonly audit: (event: VaultEvent, account: Partial<Account>, more?: VaultEventDetail) => void;
  /** The owner has another account at a server than before (`connected`), or none, or was given lists without it. */
  readonly announce: (connected?: string) => void;
  readonly now: () => number;
}

type VaultEvent = "connect" | "connect_failed" | "refresh_failed" | "disconnect" | "moved";

interface VaultEventDetail {
  readonly person?: string;
  readonly reason?: string;
}

const TEN_MINUTES_MS = 600_000;
/** Authorization requests for one server in ten minutes, after which none is asked for any more. */
const MAX_STEP_UPS = 3;
/** A renewal and what follows from it: more would be a loop. */
const MAX_ROUNDS = 3;
const MAX_WAIT_MS = 60_000;

export class VaultService implements Vault {
  readonly holders: AccountHolders;
  readonly #options: VaultOptions;
  readonly #access: AccountAccess;
  readonly #links: ConnectLinks;
  readonly #renewal: TokenRenewal;
  readonly #connecting: Connecting;
  readonly #upkeep: VaultUpkeep;
  readonly #waiters = new Waiters();
  /** How often the account of each slug was ended in this life, and all of them: an exchange dies with the object. */
  readonly #ends = new Map<string, number>();
  #allEnds = 0;

  constructor(options: VaultOptions) {
    const { accounts, attempts, asks, seal, authorization, synced, waitUntil, now } = options;
    this.#options = options;
    this.holders = options.holders;
    this.#links = new ConnectLinks(asks, seal);
    const onChange = (account: Account, before: Account): void => this.#changed(account, before);
    this.#access = new AccountAccess({
      ...{ accounts, seal, now, onChange, links: this.#links, isShared: options.isShared },
      onReplaced: (before) => this.#replaced(before),
    });
    const discard = (account: Account, secrets: AccountSecrets): void =>
      waitUntil(this.#revoke(account, secrets));
    this.#renewal = new TokenRenewal({
      ...{ accounts, seal, synced, waitUntil, now, onChange },
      isMoved: (account) => this.#isMoved(account),
      request: (account, secrets) => this.#request(account, secrets),
      discard,
    });
    this.#upkeep = new VaultUpkeep(options, this.#access, this.#renewal);
    this.#connecting = new Connecting({
      ...{ accounts, attempts, seal, authorization, now, links: this.#links, discard },
      isDisabled: options.isDisabled,
      ends: (slug) => this.#endsOf(slug),
      keep: (...connected) => this.#keep(...connected),
      onFailed: (slug, person, reason) =>
        options.audit("connect_failed", { slug }, { person, reason }),
    });
  }

  async account(slug: string): Promise<string | undefined> {
    const server = this.#options.serverOf(slug);
    return server === undefined ? undefined : (this.#access.current(slug, server)?.id ?? undefined);
  }

  async credential({ slug, refused }: CredentialRequest): Promise<Credential> {
    const server = this.#options.serverOf(slug);
    if (server === undefined) return operatorNeed("not-connected");
    if (refused !== undefined) this.#access.refuse(slug, refused);
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const account = this.#access.current(slug, server);
      if (account === undefined) return this.#access.need(slug, "not-connected", undefined);
      const decision = decide(account, this.#options.now());
      switch (decision.kind) {
        case "renew":
          // oxlint-disable-next-line no-await-in-loop -- what it gave is looked at again
          await this.#renewal.renew(account);
          continue;
        case "use": {
          // oxlint-disable-next-line no-await-in-loop -- it may have ended meanwhile
          const used = await this.#access.use(server, account);
          if (used !== undefined) return used;
          continue;
        }
        case "later":
          return laterNeed(account.trouble ?? "failing", account.id, decision.until);
        case "operator":
          return operatorNeed(account.trouble ?? "failing", account.id);
        case "connect":
          return this.#access.need(slug, account.trouble ?? "ended", account);
      }
    }
    return operatorNeed("failing");
  }

  async lacking({ slug, accountId, generation, challenge }: LackingRequest): Promise<Credential> {
    const { serverOf, accounts, attempts } = this.#options;
    const account = accounts.find(slug, accountId)?.account;
    // Connected again since, with more scopes; or there is a newer token of the gateway's own.
    if (account === undefined || account.generation > generation) return this.credential({ slug });
    const auth = serverOf(slug)?.auth;
    if (auth === undefined || !("oauth" in auth)) return forbiddenNeed(accountId);
    const step = stepUp(account.requested, challenge.scope, auth.oauth.maxScopes);
    if (step.kind === "beyond-max") return operatorNeed("beyond-max-scopes", account.id);
    const isTooOften = attempts.begun(slug, TEN_MINUTES_MS) >= MAX_STEP_UPS;
    if (step.kind === "nothing-new" || isTooOften) return forbiddenNeed(accountId);
    const wanted = step.scopes.filter((scope) => !account.requested.includes(scope));
    if (account.kind === "client-credentials") {
      // The token that is on its way was asked for without them: it must not count as one that has them.
      if (this.#renewal.isRunning(account)) {
        await this.#renewal.renew(account);
        return this.lacking({ slug, accountId, generation, challenge });
      }
      // One new token with all of them; then the refusal stands.
      accounts.change({ ...account, requested: step.scopes, refusedGeneration: generation });
      return this.credential({ slug });
    }
    accounts.change({ ...account, wanted });
    return this.#access.need(slug, "more-scopes", account, "scope", step.scopes);
  }

  async connected(slug: string, waitMs: number): Promise<boolean> {
    const isTrue = (): boolean => this.isUsable(slug);
    return this.#waiters.wait(slug, Math.min(waitMs, MAX_WAIT_MS), isTrue);
  }

  async announce(): Promise<void> {
    this.#options.announce();
  }

  /** True when requests go through, and the account allows all that was asked of it. */
  isUsable(slug: string): boolean {
    const server = this.#options.serverOf(slug);
    const account = server === undefined ? undefined : this.#access.current(slug, server);
    return account !== undefined && account.wanted.length === 0 && isWorking(account);
  }

  async accounts(): Promise<readonly AccountSummary[]> {
    const { accounts, serverOf } = this.#options;
    await this.#access.tryAll();
    return accounts.all().flatMap(({ account }) => {
      const server = serverOf(account.slug);
      // One of a server that is not configured any more is still its person's to end.
      const kept = server === undefined ? account : this.#access.current(account.slug, server);
      return kept === undefined ? [] : [summaryOf(kept)];
    });
  }

  async offer(slug: string, ask: string | undefined): Promise<ConnectOffer> {
    const { serverOf, attempts, authorization } = this.#options;
    const server = serverOf(slug);
    if (server === undefined) return problem("not-connected");
    const known = this.#access.current(slug, server);
    const account = known === undefined ? {} : { account: summaryOf(known) };
    const asked = ask === undefined ? undefined : await this.#links.scopes(slug, ask);
    const isAsked = asked !== undefined;
    if (server.auth.kind === "key") return { kind: "key", isAsked, ...account };
    if (!("oauth" in server.auth)) return { ...problem("not-connected"), ...account };
    const connectedTo = known?.issuer?.issuer;
    const found = await authorization.discover(server, { connectedTo });
    if (found.kind === "failed") return { ...problem(found.trouble), ...account };
    const offer = this.#connecting.offer(server.auth.oauth, found, known, asked ?? []);
    // Said before the browser leaves: only the operator can help.
    if (offer === undefined) return { ...problem("not-registered"), ...account };
    return { kind: "oauth", ...offer, unanswered: attempts.unanswered(slug), isAsked, ...account };
  }

  async begin(request: BeginRequest): Promise<BeginOutcome> {
    const server = this.#options.serverOf(request.slug);
    if (server?.auth.kind !== "oauth" && server?.auth.kind !== "oauth-shared") {
      return problem("not-connected");
    }
    return this.#connecting.begin(server, server.auth.oauth, request);
  }

  finish(request: FinishRequest): Promise<FinishOutcome> {
    const server = this.#options.serverOf(request.slug);
    if (server === undefined) return Promise.resolve({ kind: "unknown" });
    const finishing = this.#connecting.finish(server, request);
    // A code works once, so the exchange outlives the browser's request.
    this.#options.waitUntil(finishing.catch(() => undefined));
    return finishing;
  }

  async enterKey(slug: string, key: string): Promise<FinishOutcome> {
    const ends = this.#endsOf(slug);
    // Asked after that, as in `Connecting.finish`.
    if (await this.#options.isDisabled()) return { kind: "unknown" };
    const entered = await enterKey(this.#options, slug, key);
    if (entered.kind === "problem") return entered;
    const { account, sealed } = entered;
    return this.#keep(account, sealed, ends)
      ? { kind: "connected", account: summaryOf(account) }
      : { kind: "unknown" };
  }

  async disconnect(slug: string): Promise<"disconnected" | "none"> {
    const { accounts, attempts, asks, audit } = this.#options;
    const stored = accounts.find(slug);
    this.#ends.set(slug, (this.#ends.get(slug) ?? 0) + 1);
    attempts.forget(slug);
    asks.forget(slug);
    if (stored === undefined) return "none";
    // First here: whatever the authorization server does, the tokens are not used any more.
    accounts.delete(slug);
    audit("disconnect", stored.account);
    this.#options.announce();
    this.#end(stored, true);
    return "disconnected";
  }

  async disconnectAll(): Promise<void> {
    this.#allEnds += 1;
    const slugs = this.#options.accounts.all().map(({ account: { slug } }) => slug);
    await Promise.all(slugs.map((slug) => this.disconnect(slug)));
  }

  sealAnew(): Promise<SealedAnew> {
    return this.#upkeep.sealAnew();
  }

  /** What an alarm does. @returns when it is due again. */
  async sweep(): Promise<number | undefined> {
    await this.#upkeep.run();
    return this.dueAt();
  }

  /** When the alarm is needed; `undefined` when it is not. */
  dueAt(): number | undefined {
    return this.#upkeep.dueAt();
  }

  #endsOf(slug: string): number {
    return this.#allEnds + (this.#ends.get(slug) ?? 0);
  }

  async #isMoved(account: Account): Promise<boolean> {
    const { serverOf, authorization } = this.#options;
    const server = serverOf(account.slug);
    const issuer = account.issuer?.issuer;
    if (server === undefined || issuer === undefined || account.kind !== "oauth") return false;
    const found = await authorization.discover(server, { connectedTo: issuer, isFresh: true });
    return found.issuers?.every((listed) => !isIssuer(issuer, listed)) === true;
  }

  async #request(account: Account, secrets: AccountSecrets) {
    const { serverOf, authorization } = this.#options;
    const server = serverOf(account.slug);
    if (server === undefined) return { kind: "not-processed" } as const;
    const answer = await authorization.renew(server, account, secrets);
    const isClientGone = answer.kind === "denied" && answer.trouble === "client-gone";
    if (isClientGone && account.issuer !== undefined) {
      this.#options.waitUntil(
        authorization.forgetClient(server, account.issuer).catch(() => undefined),
      );
    }
    return answer;
  }

  /**
   * Ends what is kept of an account, with its credential while that still works. The tokens of an account that
   * another one has replaced are not revoked: that might end the new grant as well.
   */
  #end({ account, sealed }: StoredAccount, isRevoked: boolean): void {
    const { serverOf, seal, holders, waitUntil } = this.#options;
    holders.end(account.id);
    const ending = async (): Promise<void> => {
      const secrets = (await seal.openSecrets(account, sealed))?.value ?? {};
      const auth = serverOf(account.slug)?.auth;
      const header = auth && headerOf(auth, secrets);
      const { id: accountId, generation, endpoint } = account;
      const last = header && ({ kind: "use", accountId, generation, endpoint, ...header } as const);
      await holders.tell(last);
      // Another account may have been connected meanwhile.
      const isAlone = this.#options.accounts.find(account.slug) === undefined;
      if (isRevoked && isAlone) await this.#revoke(account, secrets);
    };
    waitUntil(ending().catch(logUnexpected));
  }

  /** Best effort, and never rejects. */
  async #revoke(account: Account, secrets: AccountSecrets): Promise<void> {
    const { serverOf, authorization } = this.#options;
    const server = serverOf(account.slug);
    if (server === undefined || account.kind !== "oauth") return;
    await authorization.revoke(server, account, secrets).catch(() => undefined);
  }

  /**
   * Stores a new account, in place of the one before.
   *
   * @param ends of its slug, when it was begun to be connected.
   * @returns `false` when it was ended meanwhile: then it is not stored.
   */
  #keep(account: Account, sealed: string, ends: number): boolean {
    const { asks, audit, accounts, announce } = this.#options;
    const { slug, connectedBy } = account;
    if (this.#endsOf(slug) !== ends) return false;
    const before = accounts.find(slug);
    accounts.put(account, sealed);
    if (before !== undefined) this.#end(before, false);
    asks.forget(slug);
    audit("connect", account, { ...(connectedBy && { person: connectedBy }) });
    announce(slug);
    this.#waiters.wake(slug);
    return true;
  }

  #replaced(before: StoredAccount): void {
    this.#end(before, false);
    this.#options.announce(before.account.slug);
  }

  #changed(account: Account, before: Account): void {
    if (isWorking(account)) this.#waiters.wake(account.slug);
    if (account.life === before.life || account.trouble === undefined) return;
    const event = account.life === "moved" ? "moved" : "refresh_failed";
    this.#options.audit(event, account, { reason: account.trouble });
  }
}
