/** Has the vaults tell an object when an account ends of which it keeps something. */

import type { EndedHolder, Holder } from "../src/accounts/store/holder-rows.ts";
import { retry } from "../src/lib/retry.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";
import type { EndedAccount } from "../src/upstream/credentials.ts";
import type { AccountKey } from "../src/upstream/server-key.ts";
import { called } from "./ports.ts";
import { vaultNamed } from "./vaults.ts";

const RETRIES = { attempts: 5, backoff: { firstMs: 100 } };

export interface HeldAccountsOptions {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  readonly kind: Holder["kind"];
  /** Called when an account is over before its vault has the object on record. */
  readonly onEnded: (ended: EndedAccount) => Promise<void>;
}

export class HeldAccounts {
  readonly #options: HeldAccountsOptions;
  /** By account: the name of its vault. */
  readonly #held = new Map<string, string>();

  constructor(options: HeldAccountsOptions) {
    this.#options = options;
  }

  /** @param isKnown an earlier life of the object is on record for it. */
  hold({ slug, accountId, owner }: AccountKey, isKnown = false): void {
    if (this.#held.has(accountId)) return;
    this.#held.set(accountId, owner);
    const { ctx, env, kind, onEnded } = this.#options;
    if (isKnown) return;
    const holder: EndedHolder = { slug, accountId, kind, object: ctx.id.toString() };
    const holding = retry(() => vaultNamed(env, owner).hold(holder), RETRIES)
      .then((isCurrent) => (isCurrent ? undefined : onEnded({ slug, accountId })))
      .catch(logUnexpected);
    ctx.waitUntil(holding);
  }

  /** The object ends. */
  async release(): Promise<void> {
    const { ctx, env } = this.#options;
    const owners = [...new Set(this.#held.values())];
    this.#held.clear();
    const object = ctx.id.toString();
    const released = owners.map((owner) => vaultNamed(env, owner).release(object));
    await Promise.all(released).catch(logUnexpected);
  }
}

/** Tells an object that keeps something of an account. */
export async function tellHolder(
  { FEEDS, SESSIONS, BRIDGES }: Pick<Env, "FEEDS" | "SESSIONS" | "BRIDGES">,
  { kind, object }: Holder,
  ended: EndedAccount,
): Promise<void> {
  switch (kind) {
    case "feed":
      return called(FEEDS.get(FEEDS.idFromString(object))).accountEnded(ended);
    case "session":
      return called(SESSIONS.get(SESSIONS.idFromString(object))).accountEnded(ended);
    case "bridge":
      return called(BRIDGES.get(BRIDGES.idFromString(object))).accountEnded(ended);
  }
}
