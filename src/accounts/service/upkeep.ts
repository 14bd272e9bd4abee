/**
 * What a vault does without being asked: makes room, renews what is about to end, seals anew what an earlier
 * key has sealed, and tells of ended accounts those that could not be reached. An account that nobody has used
 * for a day is left alone, and so is one that only a person can connect again.
 */

import { type Account, alarmAt, decide } from "../account.ts";
import type { Accounts } from "../store/accounts.ts";
import type { Asks } from "../store/asks.ts";
import type { ConnectAttempts } from "../store/connect-attempts.ts";
import type { SealedAnew } from "../vault.ts";
import type { AccountAccess } from "./account-access.ts";
import type { AccountHolders } from "./account-holders.ts";
import type { AccountServer } from "./authorization.ts";
import type { TokenRenewal } from "./token-renewal.ts";
import type { VaultSeal } from "./vault-seal.ts";

export interface UpkeepOptions {
  readonly serverOf: (slug: string) => AccountServer | undefined;
  readonly accounts: Accounts;
  readonly attempts: ConnectAttempts;
  readonly asks: Asks;
  readonly holders: AccountHolders;
  readonly seal: VaultSeal;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
/** The alarm fires no more often: each time is billed. */
const MIN_PAUSE_MS = 60_000;

export class VaultUpkeep {
  readonly #options: UpkeepOptions;
  readonly #access: AccountAccess;
  readonly #renewal: TokenRenewal;

  constructor(options: UpkeepOptions, access: AccountAccess, renewal: TokenRenewal) {
    this.#options = options;
    this.#access = access;
    this.#renewal = renewal;
  }

  async run(): Promise<void> {
    const { accounts, attempts, asks, holders, serverOf, now } = this.#options;
    attempts.sweep();
    asks.sweep();
    await holders.tell();
    await this.sealAnew();
    for (const { account } of accounts.all()) {
      if (!isInUse(account, now()) || alarmAt(account) > now()) continue;
      const server = serverOf(account.slug);
      // It may be of another server, or of another issuer, than the operator has configured since.
      const current = server && this.#access.current(account.slug, server);
      if (current === undefined || decide(current, now()).kind !== "renew") continue;
      // oxlint-disable-next-line no-await-in-loop -- one vendor after the other
      await this.#renewal.renew(current).catch(() => undefined); // the next request sees to it
    }
  }

  /** Seals with the current key what another has sealed. */
  async sealAnew(): Promise<SealedAnew> {
    const { accounts, seal } = this.#options;
    const issuers = new Set<string>();
    let count = 0;
    for (const { account, sealed } of accounts.all()) {
      if (account.issuer?.client.way === "dcr") issuers.add(account.issuer.issuer);
      // oxlint-disable-next-line no-await-in-loop -- one row at a time is held in memory
      const opened = await seal.openSecrets(account, sealed);
      if (opened?.isOld !== true) continue;
      // oxlint-disable-next-line no-await-in-loop -- as above
      const anew = await seal.sealSecrets(account, opened.value);
      const stored = accounts.find(account.slug);
      // Newer tokens may have come meanwhile.
      if (stored?.sealed !== sealed) continue;
      accounts.put(stored.account, anew);
      count += 1;
    }
    return { accounts: count, issuers: [...issuers] };
  }

  dueAt(): number | undefined {
    const { accounts, attempts, asks, holders, seal, now } = this.#options;
    const used = accounts
      .all()
      .filter(({ account }) => isInUse(account, now()) && !seal.isUnopened(account));
    const renewals = used.map(({ account }) => Math.max(alarmAt(account), now() + MIN_PAUSE_MS));
    const due = [...renewals, attempts.sweep(), asks.sweep(), holders.dueAt()].filter(
      (at) => at !== undefined,
    );
    const first = Math.min(...due);
    return first === Infinity ? undefined : first;
  }
}

function isInUse({ usedAt, connectedAt }: Account, now: number): boolean {
  return now - (usedAt ?? connectedAt) < DAY_MS;
}
