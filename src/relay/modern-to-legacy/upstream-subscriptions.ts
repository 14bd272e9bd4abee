/**
 * The subscriptions of one session at a server, for the clients that listen. They are made with a few
 * requests at a time, which end once the server has refused as many.
 */

import { eachLimited } from "../../lib/map-limited.ts";
import type { Call } from "../../protocol/exchange.ts";

const AT_ONCE = 4;

export interface UpstreamSubscriptionsOptions {
  /** The URIs that the clients listen for now. */
  readonly wanted: () => ReadonlySet<string>;
  /** The URIs that the session was subscribed to before a restart, as far as they are known. */
  readonly granted?: Iterable<string>;
  /** Sends a request to the server. @returns true when it was granted. Never rejects. */
  readonly request: (call: Call) => Promise<boolean>;
}

export class UpstreamSubscriptions {
  readonly #options: UpstreamSubscriptionsOptions;
  /** The URIs that the server was asked for since the start, including refused ones: each is asked once. */
  readonly #asked = new Set<string>();
  readonly #granted: Set<string>;
  #following: Promise<void> = Promise.resolve();

  constructor(options: UpstreamSubscriptionsOptions) {
    this.#options = options;
    this.#granted = new Set(options.granted);
  }

  /** The URIs that a session which replaces this one is to be subscribed to. */
  get uris(): readonly string[] {
    const wanted = this.#options.wanted();
    return [...this.#granted].filter((uri) => wanted.has(uri));
  }

  /** Another session has replaced this one, and may grant URIs that this one has refused. */
  renew(): void {
    for (const uri of this.#asked) if (!this.#granted.has(uri)) this.#asked.delete(uri);
  }

  /** Makes the subscriptions equal to the wanted URIs. Never rejects. */
  follow(): Promise<void> {
    this.#following = this.#following.then(async () => {
      await this.#leave();
      await this.#join();
    });
    return this.#following;
  }

  async #leave(): Promise<void> {
    const { wanted, request } = this.#options;
    const isOver = (uri: string): boolean => !wanted().has(uri);
    for (const uri of this.#asked) if (isOver(uri)) this.#asked.delete(uri);
    await eachLimited([...this.#granted].filter(isOver), AT_ONCE, async (uri) => {
      if (!isOver(uri)) return true;
      this.#granted.delete(uri);
      return request({ method: "resources/unsubscribe", params: { uri } });
    });
  }

  async #join(): Promise<void> {
    const { wanted, request } = this.#options;
    const fresh = [...wanted()].filter((uri) => !this.#asked.has(uri));
    for (const uri of fresh) this.#asked.add(uri);
    await eachLimited(fresh, AT_ONCE, async (uri) => {
      if (!wanted().has(uri)) return true;
      const isGranted = await request({ method: "resources/subscribe", params: { uri } });
      if (isGranted) this.#granted.add(uri);
      return isGranted;
    });
  }
}
