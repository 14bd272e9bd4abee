/**
 * A session's interests at the fan-out: asked for again until they have arrived, and never after the end of the
 * session.
 */

import type { Interests } from "../../catalog/feeds.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import { retry } from "../../lib/retry.ts";
import { type AccountKeys, accountKeys, hasOtherAccounts } from "../server-keys.ts";

const RETRIES = { attempts: 6, backoff: { firstMs: 50 } };

/** The fan-out, as one session sees it. A call that failed can be made again. */
export interface NewsSource {
  /** @param isRenewed the client was granted them before. */
  subscribe(interests: Interests, isRenewed?: boolean): Promise<Interests>;
  /** In place of what it has of other accounts than those that the caller has now. */
  replace(interests: Interests): Promise<Interests>;
  /** @param interests all if omitted. */
  unsubscribe(interests?: Interests): Promise<void>;
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

  constructor(source: NewsSource, requestScope: Pick<RequestScope, "endpoint">) {
    this.#source = source;
    this.#requestScope = requestScope;
  }

  /** Never rejects. */
  async add(
    interests: Interests,
    way: "subscribe" | "renew" | "replace" = "subscribe",
  ): Promise<Announced> {
    const { signal } = this.#over;
    if (signal.aborted) return UNREACHABLE;
    const ask = async (): Promise<Announced> => {
      const { endpoint } = this.#requestScope;
      const accounts = await accountKeys(endpoint, Object.keys(interests));
      if (way !== "replace")
        return { accounts, honoured: await this.#source.subscribe(interests, way === "renew") };
      const honoured = await this.#source.replace(interests);
      // From here on, the vaults tell of another account.
      return (await hasOtherAccounts(endpoint, accounts)) ? ask() : { accounts, honoured };
    };
    // A fan-out that fails is being restarted.
    const announced = await retry(ask, { ...RETRIES, signal }).catch(() => UNREACHABLE);
    // The interests may have arrived after the end of the session, and nobody would take them back.
    if (this.#over.signal.aborted) await this.remove();
    return announced;
  }

  /**
   * A fan-out that cannot be reached goes on to deliver news, which the session ignores, or refuses. Never rejects.
   *
   * @param interests all if omitted.
   */
  async remove(interests?: Interests): Promise<void> {
    await this.#source.unsubscribe(interests).catch(() => undefined);
  }

  /** The session is over. */
  end(): void {
    this.#over.abort(new Error("The session is over"));
  }
}
