/**
 * A session's interests at the fan-out: asked for again until they have arrived, and never after the end of the
 * session.
 */

import type { Interests } from "../../catalog/feeds.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import { retry } from "../../lib/retry.ts";
import { type AccountKeys, accountKeys, hasOtherAccounts } from "../server-keys.ts";

const RETRIES = { attempts: 6, backoff: { firstMs: 50 } };

/**
 * The fan-out, as one session sees it. A call that failed can be made again. It is of no effect once a later life of
 * the session has called: it may have been under way for longer than its own life.
 */
export interface NewsSource {
  subscribe(interests: Interests, life: number): Promise<Interests>;
  /**
   * @param interests all that the session wants, granted before: whatever else the fan-out has of it goes.
   * @param pending what it asks for meanwhile, which stays if it is there.
   */
  replace(interests: Interests, life: number, pending: Interests): Promise<Interests>;
  /** @param interests all if `undefined`. */
  unsubscribe(interests: Interests | undefined, life: number): Promise<void>;
}

/** What is saved with the session's subscriptions. */
interface LifeOptions {
  /** Of the last life that has asked the fan-out for anything; `undefined` if none has, or none was numbered. */
  readonly before: number | undefined;
  /** The fan-out may have something of the session that an earlier life has asked for. */
  readonly isKnown: boolean;
  /** Called before this life first calls the fan-out: its number is to be saved in this turn. */
  readonly onBegin: () => void;
}

/** What the fan-out has promised. */
export interface Announced {
  /** The topics, by server; `undefined` when the fan-out cannot be reached. */
  readonly honoured: Interests | undefined;
  /** The accounts through which. */
  readonly accounts: AccountKeys;
}

const UNREACHABLE: Announced = { honoured: undefined, accounts: new Map() };

export class SessionInterests {
  readonly #source: NewsSource;
  readonly #requestScope: Pick<RequestScope, "endpoint">;
  readonly #over = new AbortController();
  /** Grows with each life. By the clock as well, as the fan-out may remember a number that is not saved any more. */
  readonly life: number;
  readonly #onBegin: () => void;
  /** The fan-out may have something of the session, if only what an unsubscription that failed has left there. */
  #isKnown: boolean;

  constructor(
    source: NewsSource,
    requestScope: Pick<RequestScope, "endpoint">,
    { before = 0, isKnown, onBegin }: LifeOptions,
  ) {
    this.#source = source;
    this.#requestScope = requestScope;
    this.life = Math.max(before + 1, Date.now());
    this.#onBegin = onBegin;
    this.#isKnown = isKnown;
  }

  /** Never rejects. */
  add(interests: Interests): Promise<Announced> {
    return this.#ask(interests, () => this.#source.subscribe(interests, this.life));
  }

  /** As `NewsSource.replace`. Never rejects. */
  replace(interests: Interests, pending: Interests): Promise<Announced> {
    const send = (): Promise<Interests> => this.#source.replace(interests, this.life, pending);
    // Once they have all interests, the vaults tell of another account.
    return this.#ask(interests, send, (accounts) =>
      hasOtherAccounts(this.#requestScope.endpoint, accounts),
    );
  }

  async #ask(
    interests: Interests,
    send: () => Promise<Interests>,
    isOutdated: (accounts: AccountKeys) => boolean | Promise<boolean> = () => false,
  ): Promise<Announced> {
    const { signal } = this.#over;
    if (signal.aborted) return UNREACHABLE;
    this.#isKnown = true;
    this.#onBegin();
    const ask = async (): Promise<Announced> => {
      const { endpoint } = this.#requestScope;
      const accounts = await accountKeys(endpoint, Object.keys(interests));
      const honoured = await send();
      return (await isOutdated(accounts)) ? ask() : { accounts, honoured };
    };
    // A fan-out that fails is being restarted.
    const announced = await retry(ask, { ...RETRIES, signal }).catch(() => UNREACHABLE);
    // The interests may have arrived after the end of the session, and nobody would take them back.
    if (this.#over.signal.aborted) await this.remove();
    return announced;
  }

  /**
   * A fan-out that cannot be reached goes on to deliver news, which the session ignores, or refuses, until the session
   * renews its interests. Never rejects.
   *
   * @param interests all if omitted.
   * @returns whether the fan-out was reached.
   */
  async remove(interests?: Interests): Promise<boolean> {
    this.#onBegin();
    const removed = this.#source.unsubscribe(interests, this.life).then(() => true);
    const isRemoved = await removed.catch(() => false);
    if (isRemoved && interests === undefined) this.#isKnown = false;
    return isRemoved;
  }

  /** The session is over. */
  async end(): Promise<void> {
    this.#over.abort(new Error("The session is over"));
    if (this.#isKnown) await this.remove();
  }
}
