/**
 * A listener's way to the news, opened again when it breaks. What is said while it is broken is
 * lost, so whoever reads is told of every such gap.
 */

import { sleep } from "../../lib/sleep.ts";
import type { FanOut, Interests, News, NewsSocket } from "../../catalog/feeds.ts";

export type ListenerEvent =
  | { readonly kind: "news"; readonly news: News }
  /** Anything may have changed. */
  | { readonly kind: "gap"; readonly honoured: Interests };

const MAX_ATTEMPTS = 12;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5000;
/** One that breaks sooner than this is one more attempt that failed. */
const MIN_LIFE_MS = 1000;

export class NewsLine {
  readonly #fanOut: Pick<FanOut, "listen">;
  readonly #interests: Interests;
  readonly #signal: AbortSignal;
  readonly #hangUp = (): void => this.#socket?.close();
  #socket: NewsSocket | undefined;
  #openedAt = 0;
  #failures = 0;
  /** The last piece of news of each server: what comes twice is told once. */
  readonly #seen = new Map<string, number>();

  /** @param signal when it is aborted, the line is closed. */
  constructor(fanOut: Pick<FanOut, "listen">, interests: Interests, signal: AbortSignal) {
    this.#fanOut = fanOut;
    this.#interests = interests;
    this.#signal = signal;
    signal.addEventListener("abort", this.#hangUp, { once: true });
  }

  /**
   * Opens it, however often it takes in about half a minute.
   *
   * @returns what the servers will tell of, or `undefined` when it cannot be had.
   * @throws the reason of the signal.
   */
  async open(): Promise<Interests | undefined> {
    for (; this.#failures < MAX_ATTEMPTS; this.#failures++) {
      if (this.#failures > 0) await sleep(this.#pauseMs(), this.#signal);
      this.#signal.throwIfAborted();
      // One that fails is being restarted.
      const socket = await this.#fanOut.listen(this.#interests).catch(() => undefined);
      if (socket === undefined) continue;
      this.#socket = socket;
      this.#openedAt = Date.now();
      // Who hung up meanwhile found nothing to close.
      if (this.#signal.aborted) break;
      return socket.honoured;
    }
    this.close();
    this.#signal.throwIfAborted();
    return undefined;
  }

  /**
   * @returns `undefined` when nothing is to be heard any more.
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

  close(): void {
    this.#signal.removeEventListener("abort", this.#hangUp);
    this.#socket?.close();
    this.#socket = undefined;
  }

  #pauseMs(): number {
    return Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), MAX_PAUSE_MS);
  }
}
