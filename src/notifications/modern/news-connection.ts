/**
 * A listener's connection to the fan-out, opened again when it breaks. News sent while it is broken is
 * lost, so the reader gets an event for every such gap.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import { sleep } from "../../lib/sleep.ts";
import type { FanOut, Interests, News, NewsSocket } from "../../catalog/feeds.ts";

export type ListenerEvent =
  | { readonly kind: "news"; readonly news: News }
  /** Anything may have changed. */
  | { readonly kind: "gap"; readonly honoured: Interests };

const MAX_ATTEMPTS = 12;
const BACKOFF: Backoff = { firstMs: 50, maxMs: 5000 };
/** A connection that breaks sooner than this counts as a failed attempt. */
const MIN_LIFE_MS = 1000;

export class NewsConnection {
  readonly #fanOut: Pick<FanOut, "listen">;
  #interests: Interests;
  readonly #signal: AbortSignal;
  readonly #hangUp = (): void => this.#socket?.close();
  #socket: NewsSocket | undefined;
  #openedAt = 0;
  #failures = 0;
  /** The number of the last news of each server: news that arrives twice is passed on once. */
  readonly #seen = new Map<string, number>();

  /** @param signal closes the connection when it is aborted. */
  constructor(fanOut: Pick<FanOut, "listen">, interests: Interests, signal: AbortSignal) {
    this.#fanOut = fanOut;
    this.#interests = interests;
    this.#signal = signal;
    signal.addEventListener("abort", this.#hangUp, { once: true });
  }

  /**
   * Opens the connection, with as many attempts as fit into about half a minute.
   *
   * @returns the topics the servers will announce, or `undefined` when the fan-out cannot be reached.
   * @throws the reason of the signal.
   */
  async open(): Promise<Interests | undefined> {
    for (; this.#failures < MAX_ATTEMPTS; this.#failures++) {
      if (this.#failures > 0) await sleep(pauseMs(BACKOFF, this.#failures - 1), this.#signal);
      this.#signal.throwIfAborted();
      // A fan-out that fails is being restarted.
      const interests = this.#interests;
      const socket = await this.#fanOut.listen(interests).catch(() => undefined);
      if (socket === undefined) continue;
      // They were replaced meanwhile, and `listenFor` found no socket of theirs to close.
      if (interests !== this.#interests) {
        socket.close();
        continue;
      }
      this.#socket = socket;
      this.#openedAt = Date.now();
      // An abort during the attempt found no socket to close.
      if (this.#signal.aborted) break;
      return socket.honoured;
    }
    this.close();
    this.#signal.throwIfAborted();
    return undefined;
  }

  /**
   * @returns `undefined` when no more news can be received.
   * @throws the reason of the signal.
   */
  async next(): Promise<ListenerEvent | undefined> {
    for (;;) {
      const news = await this.#socket?.next();
      this.#signal.throwIfAborted();
      if (news === undefined) break; // it broke
      if (news.seq <= (this.#seen.get(news.slug) ?? -Infinity)) continue;
      this.#seen.set(news.slug, news.seq);
      return { kind: "news", news };
    }
    this.#socket?.close();
    this.#failures = Date.now() - this.#openedAt < MIN_LIFE_MS ? this.#failures + 1 : 0;
    const honoured = await this.open();
    return honoured === undefined ? undefined : { kind: "gap", honoured };
  }

  /** Listens for these instead. What changes before it does is lost, so that the next event is a gap. */
  listenFor(interests: Interests): void {
    this.#interests = interests;
    this.#socket?.close();
  }

  close(): void {
    this.#signal.removeEventListener("abort", this.#hangUp);
    this.#socket?.close();
    this.#socket = undefined;
  }
}
