/**
 * Whatever is kept of an account ends with it, at once: its lists, and the sessions and streams that were opened
 * with it. The objects that keep it are on record, and are told until they have taken it.
 */

import { mapLimited } from "../../lib/map-limited.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import type { EndedAccount, UsableCredential } from "../../upstream/credentials.ts";
import type { Accounts } from "../store/accounts.ts";
import type { EndedHolder, Holder, HolderRows } from "../store/holder-rows.ts";

export interface HoldersOptions {
  readonly accounts: Accounts;
  readonly rows: HolderRows;
  /** Rejects when the object cannot be reached. */
  readonly tell: (holder: Holder, ended: EndedAccount) => Promise<void>;
  /** Has `tell` called by a time. */
  readonly retryBy: (at: number) => void;
  readonly now: () => number;
}

/** The longest wait for one object: a server may be slow to end a session. */
const TOLD_WITHIN_MS = 5000;
const AT_ONCE = 20;
const RETRY_MS = 60_000;

export class AccountHolders {
  readonly #options: HoldersOptions;

  constructor(options: HoldersOptions) {
    this.#options = options;
  }

  /** @returns `false` when the owner has no such account any more: then it is over for the object. */
  hold(holder: EndedHolder): boolean {
    const { accounts, rows } = this.#options;
    if (accounts.find(holder.slug, holder.accountId) === undefined) return false;
    rows.add(holder);
    return true;
  }

  release(holder: Pick<Holder, "object">): void {
    this.#options.rows.delete(holder);
  }

  /** The account has ended: written down before anybody is told. */
  end(accountId: string): void {
    const { rows, retryBy } = this.#options;
    rows.end(accountId);
    const at = this.dueAt();
    if (at !== undefined) retryBy(at);
  }

  /**
   * Tells those that are left.
   *
   * @param credential with which sessions can still be ended at the server; it is written nowhere.
   * @returns when each was told, or has to be told later. Never rejects.
   */
  async tell(credential?: UsableCredential): Promise<void> {
    const { rows } = this.#options;
    await mapLimited(rows.ended(), AT_ONCE, async (holder) => {
      if (await this.#hasTaken(holder, credential)) rows.delete(holder, holder.accountId);
    });
  }

  async #hasTaken(
    { slug, accountId, ...holder }: EndedHolder,
    credential: UsableCredential | undefined,
  ): Promise<boolean> {
    const isIts = credential?.accountId === accountId;
    const ended = { slug, accountId, ...(isIts && { credential }) };
    const told = this.#options.tell(holder, ended).then(
      () => true,
      (error: unknown) => (logUnexpected(error), false),
    );
    return (await settleWithin(told, TOLD_WITHIN_MS)) === true;
  }

  dueAt(): number | undefined {
    const { rows, now } = this.#options;
    return rows.ended().length === 0 ? undefined : now() + RETRY_MS;
  }
}
