/**
 * The accounts of which an object keeps something. Their vaults have the object on record, and tell it when an account
 * ends (`service/account-holders.ts`). An account is noted when its vault has answered, and not before: the object may
 * die while it asks, and a vault may be out of reach. The next life asks the vaults of those that are not noted.
 */

import { KeyedMutex } from "../lib/keyed-mutex.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import type { EndedAccount } from "../upstream/credentials.ts";
import type { AccountKey } from "../upstream/server-key.ts";

export interface HeldAccountsOptions {
  /**
   * Has a vault put the object on record, which may be there already.
   *
   * @returns `false` when the vault has no such account any more. Rejects when it cannot be reached.
   */
  readonly hold: (account: AccountKey) => Promise<boolean>;
  /** Has a vault take the object off its record. */
  readonly release: (owner: string) => Promise<void>;
  /** @returns the ids of the accounts whose vaults have answered, in an earlier life of the object too. */
  readonly read: () => readonly string[];
  /** Stored with the object, and deleted with it. */
  readonly write: (accountIds: readonly string[]) => void;
  /** Ends what the object keeps of an account, which was over before its vault had the object on record. */
  readonly onEnded: (ended: EndedAccount) => Promise<void>;
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

interface Held {
  readonly account: AccountKey;
  /** Its vault is being asked, or has answered. */
  isAsked: boolean;
}

export class HeldAccounts {
  readonly #options: HeldAccountsOptions;
  /** Those that the object has in this life, by id. */
  readonly #held = new Map<string, Held>();
  /** By vault: what the object has taken off its record is not put on it by an earlier request. */
  readonly #mutex = new KeyedMutex();

  constructor(options: HeldAccountsOptions) {
    this.#options = options;
  }

  /** The object keeps something of this account from now on. */
  hold(account: AccountKey): void {
    const { accountId } = account;
    if (this.#held.has(accountId)) return;
    this.#held.set(accountId, { account, isAsked: this.#options.read().includes(accountId) });
    this.retry();
  }

  /** Asks the vaults that could not be reached. To be called whenever the object is called or wakes. */
  retry(): void {
    for (const held of this.#held.values()) {
      if (held.isAsked) continue;
      held.isAsked = true;
      const asking = this.#ask(held.account, held).catch((error: unknown) => {
        held.isAsked = false;
        logUnexpected(error);
      });
      this.#options.waitUntil(asking);
    }
  }

  /** The object ends, and what it has stored is deleted. Never rejects. */
  async release(): Promise<void> {
    const owners = new Set(Array.from(this.#held.values(), ({ account }) => account.owner));
    this.#held.clear();
    const { release } = this.#options;
    const released = Array.from(owners, (owner) => this.#mutex.run(owner, () => release(owner)));
    await Promise.all(released).catch(logUnexpected);
  }

  async #ask(account: AccountKey, held: Held): Promise<void> {
    const { slug, accountId, owner } = account;
    const { hold, onEnded, read, write } = this.#options;
    const isCurrent = await this.#mutex.run(owner, () => hold(account));
    if (!isCurrent) await onEnded({ slug, accountId });
    // The object may have ended meanwhile: then nothing is stored of it.
    if (this.#held.get(accountId) !== held) return;
    write([...read().filter((id) => this.#held.has(id)), accountId]);
  }
}
