/** Tells the feeds which lists their servers have reported as changed in the client's own sessions. */

import type { Server } from "../../endpoint/server.ts";
import type { Backoff } from "../../lib/backoff.ts";
import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import { retry } from "../../lib/retry.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import { serverKey } from "../../upstream/server-key.ts";
import type { RequestScope } from "../request-scope.ts";
import type { ListTopic } from "../topics.ts";

/** The longest wait of a client for a feed that is told of a change. */
const TELL_WAIT_MS = 1000;
/** A feed that was restarted is back at once. Another one is tried again for about thirteen seconds. */
const RETRIES = { attempts: 8, backoff: { firstMs: 100 } satisfies Backoff };

export class OutdatedLists {
  readonly #scope: Pick<RequestScope, "feeds" | "waitUntil">;
  readonly #mutex = new KeyedMutex();
  /** The calls to a feed that have not begun, by server and list: what is reported meanwhile is part of them. */
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(scope: Pick<RequestScope, "feeds" | "waitUntil">) {
    this.#scope = scope;
  }

  /**
   * The feed is told before the client is: a list that the client then asks for is read after the change. Never
   * rejects, and soon returns, for the client must be told also where the feed cannot be.
   */
  async tell(server: Server, list: ListTopic): Promise<void> {
    const key = `${server.slug} ${list}`;
    let telling = this.#waiting.get(key);
    if (telling === undefined) {
      telling = this.#mutex.run(key, () => {
        this.#waiting.delete(key);
        return this.#tell(server, list);
      });
      this.#waiting.set(key, telling);
      this.#scope.waitUntil(telling);
    }
    await settleWithin(telling, TELL_WAIT_MS);
  }

  async #tell({ target }: Server, list: ListTopic): Promise<void> {
    const tell = async (): Promise<void> => {
      const key = await serverKey(target);
      if (key !== undefined) await this.#scope.feeds.of(key).outdated([list]);
    };
    await retry(tell, RETRIES).catch(logUnexpected);
  }
}
