/**
 * Subscriptions in the session that a client has at a server itself. Once it has called a tool there,
 * what it did may concern that session alone: some servers tell nobody else of it. So from then on
 * the session is subscribed itself, and what the feed hears of the same resources is not passed on.
 * A client that only listens has no such session, and shares the feed's.
 */

import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";

export interface OwnSubscriptionsOptions {
  /** The servers at which the session was opened in an earlier life of its holder. */
  readonly opened: Iterable<string>;
  /** Makes a request at a server, for nobody who waits. Never rejects. */
  readonly request: (slug: string, call: Call) => Promise<Reply>;
  /** What the session at a server is subscribed to, as it is kept with it. */
  readonly subscribed: (slug: string) => readonly string[];
}

export class OwnSubscriptions {
  readonly #options: OwnSubscriptionsOptions;
  readonly #called: Set<string>;

  constructor(options: OwnSubscriptionsOptions) {
    this.#options = options;
    this.#called = new Set(options.opened);
  }

  /** @returns whether that is news. */
  called(slug: string): boolean {
    if (this.#called.has(slug)) return false;
    this.#called.add(slug);
    return true;
  }

  has(slug: string, uri: string): boolean {
    return this.#options.subscribed(slug).includes(uri);
  }

  /** @returns `false` where there is no such session, or the server does not subscribe it. */
  async subscribe(slug: string, uri: string): Promise<boolean> {
    if (!this.#called.has(slug)) return false;
    const call = { method: "resources/subscribe", params: { uri } };
    return "result" in (await this.#options.request(slug, call));
  }

  async unsubscribe(slug: string, uri: string): Promise<void> {
    await this.#options.request(slug, { method: "resources/unsubscribe", params: { uri } });
  }
}
