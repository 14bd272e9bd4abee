/**
 * Who watches the upstream for what belongs to no request. The session itself does while things
 * happen, and for a while after the last stream of its client's broke: the client is likely to be
 * back. When it is quiet, whoever holds the client's stream watches, so that the holder of the
 * session can sleep. The next watch is open before the last one is closed: what a server without
 * event ids says to nobody is lost. Where a server has but one, the last is closed for it.
 */

import { pauseMs } from "../lib/backoff.ts";
import type { Dispatch } from "./dispatch.ts";
import type { StreamReader } from "./stream-reader.ts";
import { watchFrame } from "./frame.ts";
import type { Streams } from "./streams.ts";

export interface WatchingOptions {
  readonly streams: Streams;
  /** How long nothing must have happened before the watch is handed over. */
  readonly quietMs: number;
  /** How long the session watches on without a stream of its client's. */
  readonly lingerMs: number;
  /** While calls run or questions are open, the server is likely to say something. */
  readonly isBusy: () => boolean;
}

/** Of handing over, in a row: each keeps the session's holder awake for a pause. */
const MAX_FAILURES = 10;
const MAX_PAUSE_MS = 60_000;

export class Watching {
  readonly #options: WatchingOptions;
  #timer: number | null = null;
  #isOver = false;
  /** The stream whose holder watches; none while the session itself does. */
  #watcher: StreamReader | undefined;
  /** Settles when the session itself watches. */
  #takingOver: Promise<void> | undefined;
  /** How often in a row not every server could be handed over. */
  #failures = 0;

  constructor(options: WatchingOptions) {
    this.#options = options;
  }

  /** A stream that watched before this life of the session's holder still does. */
  isKept(feed: StreamReader): void {
    this.#watcher = feed;
  }

  /** There is a new stream, or another session at the upstream: the session watches by itself. */
  takeOver(dispatch: Dispatch | undefined): void {
    const { streams } = this.#options;
    if (dispatch === undefined || streams.standalone() === undefined) return;
    const watcher = this.#watcher;
    this.#watcher = undefined;
    this.#failures = 0;
    this.#takingOver = dispatch
      .listen(streams.lastUnsolicited())
      .finally(() => watcher?.tell(watchFrame(undefined)));
    this.stirred(dispatch);
  }

  /** Something happened: it may not be over yet. */
  stirred(dispatch: Dispatch | undefined): void {
    const { streams, quietMs } = this.#options;
    if (this.#watcher !== undefined || streams.standalone() === undefined) return;
    this.#handOverAfter(quietMs, dispatch);
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

  /** Whoever was told to watch a server does. */
  watchedElsewhere(dispatch: Dispatch | undefined, slug: string): void {
    // It may have been told otherwise since.
    if (this.#watcher !== undefined) dispatch?.handedOver(slug);
  }

  /** The session is over. */
  end(): void {
    this.#isOver = true;
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
  }

  #handOverAfter(ms: number, dispatch: Dispatch | undefined): void {
    this.#stop();
    this.#timer = setTimeout(() => void this.#handOver(dispatch), ms);
  }

  async #handOver(dispatch: Dispatch | undefined): Promise<void> {
    const { streams, quietMs, isBusy } = this.#options;
    const timer = this.#timer;
    await this.#takingOver;
    let isWhole = true;
    const order = isBusy()
      ? undefined
      : await dispatch?.watched(streams.lastUnsolicited(), () => {
          isWhole = false;
        });
    const feed = streams.standalone();
    // Something happened meanwhile: it is tried again when that is over.
    if (this.#isOver || feed === undefined || this.#timer !== timer) return;
    if (isBusy()) {
      this.#handOverAfter(quietMs, dispatch);
      return;
    }
    if (order !== undefined) {
      this.#watcher = feed;
      feed.tell(watchFrame(order));
    }
    this.#failures = isWhole ? 0 : this.#failures + 1;
    // After that, the next call or the next stream finds out whether the server is back.
    if (isWhole || this.#failures > MAX_FAILURES) return;
    const backoff = { firstMs: quietMs, maxMs: MAX_PAUSE_MS };
    this.#handOverAfter(pauseMs(backoff, this.#failures - 1), dispatch);
  }
}
