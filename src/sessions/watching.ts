/**
 * Decides who holds the servers' standalone GET streams open. The session does while it is active, and
 * for a while after the client's last stream broke, since the client is likely to reconnect. When it is
 * quiet, the Worker that holds the client's stream takes them over, so that the session's object can
 * sleep. The next watch opens before the last one closes: a server without event ids loses what it sends
 * in between. Where a server allows one stream only, the last is closed first.
 */

import { pauseMs } from "../lib/backoff.ts";
import type { Dispatch } from "./dispatch.ts";
import type { StreamReader } from "./stream-reader.ts";
import { watchFrame } from "./frame.ts";
import type { Streams } from "./streams.ts";

export interface WatchingOptions {
  readonly streams: Streams;
  /** Quiet time before the watch is handed over. */
  readonly quietMs: number;
  /** Time for which the session keeps watching without a stream of its client. */
  readonly lingerMs: number;
  /** `true` while calls run or questions are open: then a server is likely to send something. */
  readonly isBusy: () => boolean;
}

/** Failed attempts to hand over, in a row: each keeps the session's object awake for a pause. */
const MAX_FAILURES = 10;
const MAX_PAUSE_MS = 60_000;

export class Watching {
  readonly #options: WatchingOptions;
  #timer: number | null = null;
  #isOver = false;
  /** The reader whose Worker watches; none while the session itself does. */
  #watcher: StreamReader | undefined;
  /** Settles when the session itself watches. */
  #takingOver: Promise<void> | undefined;
  /** Attempts in a row in which not every server could be handed over. */
  #failures = 0;

  constructor(options: WatchingOptions) {
    this.#options = options;
  }

  /** A Worker that watched before this life of the session's object still does. */
  isKept(reader: StreamReader): void {
    this.#watcher = reader;
  }

  /** The client has a new stream, or a server a new session: the session watches by itself. */
  takeOver(dispatch: Dispatch | undefined): void {
    const { streams } = this.#options;
    if (dispatch === undefined || streams.standalone() === undefined) return;
    const watcher = this.#watcher;
    this.#watcher = undefined;
    this.#failures = 0;
    this.#takingOver = dispatch
      .listen(streams.lastUnsolicited())
      .finally(() => watcher?.sendControl(watchFrame(undefined)));
    this.stirred(dispatch);
  }

  /** Something happened: the quiet time starts again. */
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

  /** The Worker has begun to watch a server. */
  watchedElsewhere(dispatch: Dispatch | undefined, slug: string): void {
    // The session may have taken the watch back since.
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
    const request = isBusy()
      ? undefined
      : await dispatch?.watched(streams.lastUnsolicited(), () => {
          isWhole = false;
        });
    const reader = streams.standalone();
    // Something happened meanwhile: the next quiet time tries again.
    if (this.#isOver || reader === undefined || this.#timer !== timer) return;
    if (isBusy()) {
      this.#handOverAfter(quietMs, dispatch);
      return;
    }
    if (request !== undefined) {
      this.#watcher = reader;
      reader.sendControl(watchFrame(request));
    }
    this.#failures = isWhole ? 0 : this.#failures + 1;
    // Beyond the limit, the next call or stream finds out whether the server is back.
    if (isWhole || this.#failures > MAX_FAILURES) return;
    const backoff = { firstMs: quietMs, maxMs: MAX_PAUSE_MS };
    this.#handOverAfter(pauseMs(backoff, this.#failures - 1), dispatch);
  }
}
