/**
 * What one session at a server is subscribed to for the clients that listen: a few requests at a time,
 * and no further once the server has refused as many.
 */

import type { Call } from "../../protocol/exchange.ts";

const AT_ONCE = 4;

export interface UpstreamSubscriptionsOptions {
  /** What the clients listen for now. */
  readonly wanted: () => ReadonlySet<string>;
  /** What the session was subscribed to in an earlier life, as far as that is known. */
  readonly granted?: Iterable<string>;
  /** Makes a request at the server. @returns whether it was granted. Never rejects. */
  readonly request: (call: Call) => Promise<boolean>;
}

export class UpstreamSubscriptions {
  readonly #options: UpstreamSubscriptionsOptions;
  /** What the server was asked for in this life, or refuses anyway: it is not asked again and again. */
  readonly #asked = new Set<string>();
  readonly #granted: Set<string>;
  #following: Promise<void> = Promise.resolve();

  constructor(options: UpstreamSubscriptionsOptions) {
    this.#options = options;
    this.#granted = new Set(options.granted);
  }

  /** What a new session is to be subscribed to that takes the place of this one. */
  get uris(): readonly string[] {
    const wanted = this.#options.wanted();
    return [...this.#granted].filter((uri) => wanted.has(uri));
  }

  /** Another session has taken the place of this one: it may grant what this one has not. */
  renew(): void {
    for (const uri of this.#asked) if (!this.#granted.has(uri)) this.#asked.delete(uri);
  }

  /** Makes it what is wanted. Never rejects. */
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
    await eachOf([...this.#granted].filter(isOver), async (uri) => {
      if (!isOver(uri)) return true;
      this.#granted.delete(uri);
      return request({ method: "resources/unsubscribe", params: { uri } });
    });
  }

  async #join(): Promise<void> {
    const { wanted, request } = this.#options;
    const fresh = [...wanted()].filter((uri) => !this.#asked.has(uri));
    for (const uri of fresh) this.#asked.add(uri);
    await eachOf(fresh, async (uri) => {
      if (!wanted().has(uri)) return true;
      const isGranted = await request({ method: "resources/subscribe", params: { uri } });
      if (isGranted) this.#granted.add(uri);
      return isGranted;
    });
  }
}

/** A few at a time. @param ask resolves to `false` when it was in vain. */
async function eachOf(
  uris: readonly string[],
  ask: (uri: string) => Promise<boolean>,
): Promise<void> {
  const rest = uris.values();
  const work = async (): Promise<void> => {
    for (const uri of rest) if (!(await ask(uri))) return;
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, uris.length) }, work));
}
