/**
 * Holds the servers' standalone GET streams while the client listens, and for a while after its last
 * stream broke, since it is likely to reconnect. When the session is quiet, it hands them over to the
 * Worker that holds the client's stream, so that the session's object can sleep. The next watch opens
 * before the last one closes: a server without event ids loses what it sends in between. Where a
 * server allows one stream only, the last is closed first.
 */

import { pauseMs } from "../lib/backoff.ts";
import type { Limits } from "../policy/limits.ts";
import type { Dispatch } from "./dispatch.ts";
import type { StreamReader } from "./stream-reader.ts";
import { watchFrame } from "./frame.ts";
import type { SessionLife } from "./state.ts";
import type { Streams } from "./streams.ts";

export interface HandOverOptions {
  readonly life: SessionLife;
  readonly streams: Pick<Streams, "standalone" | "lastUnsolicited">;
  readonly limits: Pick<Limits, "quietSeconds" | "lingerSeconds">;
  /** The connection to the servers; `undefined` before `initialize`. */
  readonly dispatch: () =>
    | Pick<Dispatch, "listen" | "unlisten" | "watched" | "handedOver">
    | undefined;
  /** `true` while calls run or questions are open: then a server is likely to send something. */
  readonly isBusy: () => boolean;
}

/** Failed attempts to hand over, in a row: each keeps the session's object awake for a pause. */
const MAX_FAILURES = 10;
const MAX_PAUSE_MS = 60_000;

export class HandOver {
  readonly #options: HandOverOptions;
  #timer: number | null = null;
  /** The reader whose Worker watches, in the state "handed over". */
  #watcher: StreamReader | undefined;
  /** Settles when the session itself watches. */
  #takingOver: Promise<void> | undefined;
  /** Attempts in a row in which not every server could be handed over. */
  #failures = 0;
  /** The session is over, though its last streams may still close. */
  #isOver = false;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** A Worker that watched before this life of the session's object still does. */
  found(reader: StreamReader): void {
    // Over HTTP+SSE, the stream is older than `initialize`.
    const isFirst = this.#options.life.take("found");
    // Of several, the newest was asked to watch.
    if (isFirst || (this.#watcher?.openedAt ?? Infinity) < reader.openedAt) this.#watcher = reader;
  }

  /**
   * The client has a new stream, or a server a new session: the session watches by itself.
   *
   * @param isWatched the Worker's watch goes on meanwhile, in the session that the server has now.
   */
  takeOver(isWatched = this.#watcher !== undefined): void {
    const { life, streams, dispatch } = this.#options;
    if (streams.standalone() === undefined || !life.take("listening")) return;
    const watcher = this.#watcher;
    this.#watcher = undefined;
    this.#failures = 0;
    this.#takingOver = dispatch()
      ?.listen(streams.lastUnsolicited(), isWatched)
      .finally(() => watcher?.sendControl(watchFrame(undefined)));
    this.#awaitQuiet();
  }

  /** Something happened: the quiet time starts again. */
  stirred(): void {
    if (this.#options.life.take("stirred")) this.#awaitQuiet();
  }

  /** The newest standalone stream lost its reader while the object slept. Its Worker watched, and no other does. */
  leftAsleep(): void {
    if (this.#isOver) return;
    if (this.#options.streams.standalone() === undefined) this.left();
    else this.takeOver(false);
  }

  /** A standalone stream has lost its reader. */
  left(): void {
    if (this.#isOver) return;
    const { life, streams, limits, dispatch } = this.#options;
    if (streams.standalone() !== undefined) {
      this.takeOver();
      return;
    }
    if (!life.take("left")) return;
    this.#watcher = undefined;
    void dispatch()?.listen(streams.lastUnsolicited(), false);
    this.#after(limits.lingerSeconds * 1000, () => {
      if (life.take("lingered")) dispatch()?.unlisten();
    });
  }

  /** The Worker has begun to watch a server. */
  watchedElsewhere(slug: string): void {
    const { life, dispatch } = this.#options;
    // The session may have taken the watch back since.
    if (life.state === "handed over") dispatch()?.handedOver(slug);
  }

  /** The session is over. */
  end(): void {
    if (this.#isOver) return;
    const { life } = this.#options;
    this.#isOver = true;
    clearTimeout(this.#timer);
    // Where another session follows on the same storage, it has no listener yet.
    life.take("left");
    life.take("lingered");
    life.readersChanged(0);
  }

  #awaitQuiet(ms = this.#options.limits.quietSeconds * 1000): void {
    this.#after(ms, () => void this.#handOver());
  }

  #after(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, ms);
  }

  async #handOver(): Promise<void> {
    const { life, streams, limits, dispatch, isBusy } = this.#options;
    if (!life.take("quiet")) return;
    const timer = this.#timer;
    await this.#takingOver;
    let isWhole = true;
    const request = isBusy()
      ? undefined
      : await dispatch()?.watched(streams.lastUnsolicited(), () => {
          isWhole = false;
        });
    // Something happened meanwhile: the next quiet time tries again.
    if (this.#timer !== timer || life.isOver) return;
    if (isBusy()) {
      life.take("kept");
      this.#awaitQuiet();
      return;
    }
    const reader = streams.standalone();
    if (request === undefined || reader === undefined) life.take("kept");
    else {
      life.take("handed over");
      this.#watcher = reader;
      reader.sendControl(watchFrame(request));
    }
    this.#failures = isWhole ? 0 : this.#failures + 1;
    // Beyond the limit, the next call or stream finds out whether the server is back.
    if (isWhole || this.#failures > MAX_FAILURES) return;
    const backoff = { firstMs: limits.quietSeconds * 1000, maxMs: MAX_PAUSE_MS };
    this.#awaitQuiet(pauseMs(backoff, this.#failures - 1));
  }
}
