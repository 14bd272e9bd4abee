/**
 * Who watches the upstream for what belongs to no request. The session itself does while things
 * happen, and for a while after the last stream of its client's broke: the client is likely to be
 * back. When it is quiet, whoever holds the client's stream watches, so that the holder of the
 * session can sleep. One watch is always ended before the next: a legacy server may have but one.
 */

import type { Dispatch } from "./dispatch.ts";
import type { Feed } from "./feed.ts";
import { watchFrame } from "./frame.ts";
import type { Streams } from "./streams.ts";

export interface WatchingOptions {
  readonly streams: Streams;
  /** How long nothing must have happened before the watch is handed over. */
  readonly quietMs: number;
  /** How long the session watches on without a stream of its client's. */
  readonly lingerMs: number;
}

export class Watching {
  readonly #options: WatchingOptions;
  #timer: number | null = null;
  #isOver = false;
  /** The stream whose holder watches; none while the session itself does. */
  #watcher: Feed | undefined;

  constructor(options: WatchingOptions) {
    this.#options = options;
  }

  /** A stream that watched before this life of the session's holder still does. */
  isKept(feed: Feed): void {
    this.#watcher = feed;
  }

  /** There is a new stream, or another session at the upstream: the session watches by itself. */
  takeOver(dispatch: Dispatch | undefined): void {
    const { streams } = this.#options;
    if (dispatch === undefined || streams.standalone() === undefined) return;
    this.#watcher?.tell(watchFrame(undefined));
    this.#watcher = undefined;
    void dispatch.listen(streams.lastUnsolicited());
    this.stirred(dispatch);
  }

  /** Something happened: it may not be over yet. */
  stirred(dispatch: Dispatch | undefined): void {
    const { streams, quietMs } = this.#options;
    if (this.#watcher !== undefined || streams.standalone() === undefined) return;
    this.#stop();
    this.#timer = setTimeout(() => void this.#handOver(dispatch), quietMs);
  }

  /** A stream has lost its reader. */
  detached(dispatch: Dispatch | undefined): void {
    const { streams, lingerMs } = this.#options;
    if (this.#isOver) return;
    if (streams.standalone() !== undefined) {
      this.takeOver(dispatch);
      return;
    }
    this.#watcher = undefined;
    void dispatch?.listen(streams.lastUnsolicited());
    this.#stop();
    this.#timer = setTimeout(() => dispatch?.unlisten(), lingerMs);
  }

  /** The session is over. */
  end(): void {
    this.#isOver = true;
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
  }

  async #handOver(dispatch: Dispatch | undefined): Promise<void> {
    const { streams } = this.#options;
    // An upstream that is down is tried again by the next call.
    const order = await dispatch?.watched(streams.lastUnsolicited()).catch(() => undefined);
    const feed = streams.standalone();
    if (feed === undefined || order === undefined) return;
    this.#watcher = feed;
    feed.tell(watchFrame(order));
  }
}
