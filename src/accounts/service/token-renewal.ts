/**
 * Fetches a new token for an account: with its refresh token, or with the gateway's own credentials. The
 * request is written down before it is sent, and what it gave before anything else is done with it, so that
 * the object may die at any moment. One request runs at a time for an account, and it outlives whoever
 * asked for it.
 */

import { logUnexpected } from "../../observability/unexpected.ts";
import {
  type Account,
  aged,
  decide,
  denied,
  moved,
  type NewToken,
  notAccepted,
  notProcessed,
  renewed,
  sent,
  unanswered,
} from "../account.ts";
import type { Accounts } from "../store/accounts.ts";
import type { Trouble } from "../trouble.ts";
import type { AccountSecrets, VaultSeal } from "./vault-seal.ts";

/** What a token endpoint has given, after its answer was judged. */
export interface FreshTokens extends NewToken {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
}

/** What the answer to a request for a token means (RFC 6749 section 5). */
export type RenewalAnswer =
  | { readonly kind: "tokens"; readonly tokens: FreshTokens }
  /** The grant is over, or the client that it is bound to. */
  | { readonly kind: "denied"; readonly trouble: Trouble }
  /** The operator has to change something. */
  | { readonly kind: "not-accepted"; readonly trouble: Trouble }
  /** The request was never sent, or provably was not processed. */
  | { readonly kind: "not-processed"; readonly retryAfterMs?: number | undefined }
  | { readonly kind: "unanswered" };

export interface RenewalOptions {
  readonly accounts: Accounts;
  readonly seal: VaultSeal;
  /** Whether the server still names the authorization server that the account is from. */
  readonly isMoved: (account: Account) => Promise<boolean>;
  readonly request: (account: Account, secrets: AccountSecrets) => Promise<RenewalAnswer>;
  /** Revokes tokens that came when their account was gone already. */
  readonly discard: (account: Account, secrets: AccountSecrets) => void;
  /** Resolves when what was written is durable. */
  readonly synced: () => Promise<void>;
  /** Keeps the object alive until the promise is settled. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** The account is not as it was: connected again, or in trouble. */
  readonly onChange: (account: Account, before: Account) => void;
  readonly now: () => number;
}

export class TokenRenewal {
  readonly #options: RenewalOptions;
  /** Of this life of the object, by account. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  /** Whether a request for a token is running in this life of the object. */
  isRunning({ id }: Pick<Account, "id">): boolean {
    return this.#running.has(id);
  }

  /** @returns when the request for a token that is running, or is due, has been answered. */
  renew({ id, slug }: Pick<Account, "id" | "slug">): Promise<void> {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    const renewing = this.#renew(slug, id).finally(() => this.#running.delete(id));
    this.#running.set(id, renewing);
    this.#options.waitUntil(renewing.catch(() => undefined)); // the caller gets the error
    return renewing;
  }

  async #renew(slug: string, id: string): Promise<void> {
    const { accounts, seal, now, request, synced } = this.#options;
    // A request of an earlier life of the object, which ended before its answer came.
    this.#change(slug, id, (account) =>
      account.sent === undefined ? account : unanswered(account),
    );
    const stored = accounts.find(slug, id);
    if (stored === undefined || decide(stored.account, now()).kind !== "renew") return undefined;
    const opened = await seal.openSecrets(stored.account, stored.sealed);
    // `AccountAccess.current` says so to whoever asks.
    if (opened === undefined) return undefined;
    if (await this.#isMoved(stored.account)) return this.#change(slug, id, moved);
    const account = accounts.find(slug, id)?.account;
    if (account === undefined) return undefined;
    const before = sent(account, crypto.randomUUID(), now());
    accounts.change(before);
    await synced();
    const answer = await request(before, opened.value).catch((error: unknown): RenewalAnswer => {
      logUnexpected(error);
      return { kind: "unanswered" };
    });
    return this.#settle(before, opened.value, answer);
  }

  /** A server whose credential was refused may have moved to another authorization server. */
  async #isMoved(account: Account): Promise<boolean> {
    const isRefused = account.refusedGeneration === account.generation;
    return isRefused && this.#options.isMoved(account);
  }

  async #settle(before: Account, secrets: AccountSecrets, answer: RenewalAnswer): Promise<void> {
    const { slug, id } = before;
    const now = this.#options.now();
    switch (answer.kind) {
      case "tokens":
        return this.#keep(before, secrets, answer.tokens);
      case "denied":
        return this.#change(slug, id, (account) => denied(account, answer.trouble));
      case "not-accepted":
        return this.#change(slug, id, (account) => notAccepted(account, answer.trouble, now));
      case "not-processed":
        return this.#change(slug, id, (account) => notProcessed(account, now, answer.retryAfterMs));
      case "unanswered":
        return this.#change(slug, id, (account) => unanswered(account));
    }
  }

  /**
   * Writes new tokens in the turn in which their answer was read: nothing is awaited but the sealing, which
   * no other event comes between. A refresh token that was not replaced stays (RFC 6749 section 6).
   */
  async #keep(before: Account, secrets: AccountSecrets, tokens: FreshTokens): Promise<void> {
    const { accounts, seal, now, discard, onChange } = this.#options;
    const { accessToken, refreshToken = secrets.refreshToken } = tokens;
    const next = { ...secrets, accessToken, ...(refreshToken !== undefined && { refreshToken }) };
    const sealed = await seal.sealSecrets(before, next);
    const account = accounts.find(before.slug, before.id)?.account;
    if (account === undefined) {
      // Disconnected meanwhile. If it was connected again, to revoke might end that grant as well.
      if (accounts.find(before.slug) === undefined) discard(before, next);
      return;
    }
    const after = renewed(account, tokens, now());
    accounts.put(after, sealed);
    onChange(after, account);
  }

  /** Changes the account, unless it is another one by now. */
  #change(slug: string, id: string, change: (account: Account) => Account): void {
    const account = this.#options.accounts.find(slug, id)?.account;
    if (account === undefined) return;
    const after = aged(change(account), this.#options.now());
    if (after === account) return;
    this.#options.accounts.change(after);
    this.#options.onChange(after, account);
  }
}
