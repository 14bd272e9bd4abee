/**
 * Subscriptions in a client's own session at a server. Some servers announce the effects of a tool call
 * only in the session that made it. So after a client's first call the session is subscribed as well
 * as the feed, which also receives changes while the session has no listener. A client that only
 * listens has no such session, unless the feed cannot announce what it listens for: a server of both
 * eras may notify legacy sessions only.
 */

import { eachLimited } from "../../lib/map-limited.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";

const AT_ONCE = 4;

export interface OwnSubscriptionsOptions {
  /** The servers at which the session is subscribed, as it was saved. */
  readonly saved: readonly string[];
  readonly save: (slugs: readonly string[]) => void;
  /** Makes a request at a server on the gateway's own behalf. Never rejects. */
  readonly request: (slug: string, call: Call) => Promise<Reply>;
  /** Opens the session at a server. @returns whether it takes subscriptions. Never rejects. */
  readonly takesSubscriptions: (slug: string) => Promise<boolean>;
}

export class OwnSubscriptions {
  readonly #options: OwnSubscriptionsOptions;
  readonly #called: Set<string>;
  readonly #subscribed: Set<string>;

  constructor(options: OwnSubscriptionsOptions) {
    this.#options = options;
    this.#called = new Set(options.saved);
    this.#subscribed = new Set(options.saved);
  }

  /** @returns whether this is the first call. */
  called(slug: string): boolean {
    if (this.#called.has(slug)) return false;
    this.#called.add(slug);
    return true;
  }

  /** @returns whether a session that is opened there anew is to be subscribed. */
  isAt(slug: string): boolean {
    return this.#subscribed.has(slug);
  }

  /**
   * Subscribes the session to the resources wanted before its first call: `AT_ONCE` at a time, and it
   * stops once the server has refused as many.
   *
   * @param isWanted whether the resource is still wanted.
   */
  async subscribeAll(
    slug: string,
    uris: readonly string[],
    isWanted: (uri: string) => boolean,
  ): Promise<void> {
    await eachLimited(
      uris,
      AT_ONCE,
      async (uri) => !isWanted(uri) || (await this.#subscribe(slug, uri)),
    );
    if (uris.some(isWanted)) this.#note(slug);
  }

  /**
   * Uses the session from now on, for a resource that the feed cannot announce.
   *
   * @returns `false` when the server does not subscribe it; then nothing has changed.
   */
  async begin(slug: string, uri: string): Promise<boolean> {
    // A session that is in use has been asked already.
    if (this.#called.has(slug) || !(await this.#options.takesSubscriptions(slug))) return false;
    if (!(await this.#subscribe(slug, uri))) return false;
    this.#called.add(slug);
    this.#note(slug);
    return true;
  }

  /** @returns `false` where there is no such session, or the server does not subscribe it. */
  async subscribe(slug: string, uri: string): Promise<boolean> {
    if (!this.#called.has(slug) || !(await this.#subscribe(slug, uri))) return false;
    this.#note(slug);
    return true;
  }

  async unsubscribe(slug: string, uri: string): Promise<void> {
    if (!this.#called.has(slug)) return;
    await this.#options.request(slug, { method: "resources/unsubscribe", params: { uri } });
  }

  async #subscribe(slug: string, uri: string): Promise<boolean> {
    const call = { method: "resources/subscribe", params: { uri } };
    return "result" in (await this.#options.request(slug, call));
  }

  /** Saves each server once, however many resources it has; they are stored elsewhere. */
  #note(slug: string): void {
    if (this.#subscribed.has(slug)) return;
    this.#subscribed.add(slug);
    this.#options.save([...this.#subscribed]);
  }
}
