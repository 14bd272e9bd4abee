/**
 * The standalone GET stream, for messages that belong to no request (2025-11-25, listening for
 * messages from the server). It is opened again whenever it ends, unless the server does not offer it.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import { mediaType } from "../../lib/media-type.ts";
import { sleep } from "../../lib/sleep.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { SsePosition } from "../read-messages.ts";
import { UpstreamError } from "../upstream-error.ts";
import type { Deliver, StandaloneStreamListener } from "./wire.ts";

/** The transport that the stream is opened over. */
export interface StandaloneTransport {
  readonly get: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;
  /** Delivers the messages of a stream until it ends or `isOver`. Rejects when it breaks. */
  readonly drain: (
    response: Response,
    resume: SsePosition,
    deliver: Deliver,
    isOver: () => boolean,
  ) => Promise<void>;
  /** Reads the error of a refusal. Rejects with `session-lost` when the session is forgotten. */
  readonly readRefusal: (response: Response) => Promise<unknown>;
}

/** Pauses in a row that the server may choose while its stream delivers nothing. */
const MAX_BARREN = 5;
/** Between two streams, whatever the server asks for. */
const MIN_PAUSE_MS = 100;
const MAX_RETRY_MS = 30_000;
const RETRY_BACKOFF: Backoff = { firstMs: 1000, maxMs: MAX_RETRY_MS };
const BAD_REQUEST = 400;
/** In a session it means that the session is forgotten. */
const NOT_FOUND = 404;
const CONFLICT = 409;
const CONFLICT_BACKOFF: Backoff = { firstMs: 20 };
const MAX_CONFLICTS = 6;
const SERVER_ERROR = 500;
/** Another stream of ours is still open, or there are too many requests. */
const NOT_NOW: ReadonlySet<number> = new Set([408, CONFLICT, 429]);
/** A stream that stayed open for this long counts as useful, though it delivered nothing. */
const STEADY_MS = 10_000;
/** Some servers send no response head before the first message: those are waited for once. */
const MAX_OPENING_MS = 2000;

export class StandaloneStream {
  readonly #transport: StandaloneTransport;
  #listening: AbortController | undefined;
  #opening: Promise<void> | undefined;
  /** The last response of the server did not come within `MAX_OPENING_MS`. */
  #isSlow = false;

  constructor(transport: StandaloneTransport) {
    this.#transport = transport;
  }

  /**
   * The GET request has been sent and has no response yet. Messages that a request causes would be
   * lost if that request overtook it, and a server that asks the client something would wait for the
   * answer. Resolves when the server has responded, or takes too long; never rejects.
   */
  get opening(): Promise<void> | undefined {
    return this.#opening;
  }

  /** Calling it again is harmless. @param lastEventId the last received event of the stream. */
  listen(listener: StandaloneStreamListener, lastEventId?: string): void {
    if (this.#listening !== undefined) {
      listener.standing?.();
      return;
    }
    const listening = new AbortController();
    this.#listening = listening;
    const resume: SsePosition = {
      ...(lastEventId === undefined ? {} : { lastEventId }),
      onPrimed: () => {
        if (resume.lastEventId !== undefined) listener.primed(resume.lastEventId);
      },
    };
    const onAnswered = this.#awaitAnswer(listener.standing);
    void this.#run(listener, resume, listening.signal, onAnswered).finally(() => {
      if (this.#listening === listening) this.#listening = undefined;
    });
  }

  unlisten(): void {
    this.#listening?.abort();
    this.#listening = undefined;
  }

  /** @returns a function to call when the server has responded, or cannot. */
  #awaitAnswer(onStanding: (() => void) | undefined): () => void {
    const { promise, resolve } = Promise.withResolvers<true>();
    const opening = settleWithin(promise, MAX_OPENING_MS).then((isAnswered) => {
      onStanding?.();
      this.#isSlow = isAnswered === undefined;
      if (this.#opening === opening) this.#opening = undefined;
    });
    this.#opening = this.#isSlow ? undefined : opening;
    return () => resolve(true);
  }

  async #run(
    listener: StandaloneStreamListener,
    resume: SsePosition,
    signal: AbortSignal,
    onAnswered: () => void,
  ): Promise<void> {
    for (let failures = 0, conflicts = 0; !signal.aborted;) {
      try {
        const { lastEventId } = resume;
        const response = await this.#transport.get(lastEventId, signal);
        if (response.status === CONFLICT && conflicts < MAX_CONFLICTS) {
          // The previous listener's stream is still open, and may wait for this one to stand.
          listener.standing?.();
          await response.body?.cancel();
          await sleep(pauseMs(CONFLICT_BACKOFF, conflicts++), signal);
          continue;
        }
        onAnswered();
        conflicts = 0;
        failures += 1;
        if (response.ok && isEventStream(response)) {
          listener.opened?.(lastEventId !== undefined);
          const isUseful = await this.#read(response, listener, resume, signal);
          if (isUseful) failures = 0;
        } else if (!(await this.#mayListenAgain(response, resume, listener))) {
          return;
        }
      } catch (error) {
        onAnswered(); // no response came: a request that waits meets the failure itself
        // The session is of another account than the caller has by now.
        if (isForgotten(error)) return listener.onLost();
        failures += 1; // the stream is opened again after any failure, unless it was aborted
      }
      // A server whose stream was opened in vain several times no longer chooses the pause.
      const pause = pauseBefore(failures > MAX_BARREN ? {} : resume, failures);
      await sleep(Math.max(pause, MIN_PAUSE_MS), signal).catch(() => undefined); // aborted: leave
    }
  }

  /** @returns true when the stream delivered something or stayed open for `STEADY_MS`. */
  async #read(
    response: Response,
    { deliver, broken }: StandaloneStreamListener,
    resume: SsePosition,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { lastEventId } = resume;
    const openedAt = Date.now();
    let hasDelivered = false;
    const deliverNoted: Deliver = (parsed, id) => {
      hasDelivered = true;
      return deliver(parsed, id);
    };
    try {
      await this.#transport.drain(response, resume, deliverNoted, () => signal.aborted);
    } catch {
      // The stream is opened again, however it ended.
    }
    if (!signal.aborted) broken?.();
    return hasDelivered || resume.lastEventId !== lastEventId || Date.now() - openedAt > STEADY_MS;
  }

  async #mayListenAgain(
    response: Response,
    resume: SsePosition,
    { onLost, refused }: StandaloneStreamListener,
  ): Promise<boolean> {
    const { status } = response;
    let wasForgotten = false;
    // A response without an event stream is not the standalone stream.
    if (response.ok) await response.body?.cancel();
    else {
      await this.#transport.readRefusal(response).catch((error: unknown) => {
        wasForgotten = isForgotten(error);
      });
    }
    // The server may no longer know the event id: without it the stream still brings later messages.
    const mayLackEvent = status === BAD_REQUEST || (status === NOT_FOUND && !wasForgotten);
    if (mayLackEvent && resume.lastEventId !== undefined) {
      delete resume.lastEventId;
      return true;
    }
    if (wasForgotten) onLost();
    const isOnlyNow = status >= SERVER_ERROR || NOT_NOW.has(status);
    // 405: the server does not offer the stream.
    if (!wasForgotten && !isOnlyNow) refused?.();
    return !wasForgotten && isOnlyNow;
  }
}

function isForgotten(error: unknown): boolean {
  return error instanceof UpstreamError && error.failure === "session-lost";
}

function isEventStream(response: Response): boolean {
  return mediaType(response.headers.get("content-type")) === "text/event-stream";
}

/**
 * The pause before a stream is opened again (HTML Living Standard, 9.2, `retry`).
 *
 * @param failures in a row: without a `retry` of the server's, each doubles the pause.
 * @returns the pause in milliseconds.
 */
export function pauseBefore({ retryMs }: Pick<SsePosition, "retryMs">, failures = 0): number {
  return Math.min(retryMs ?? pauseMs(RETRY_BACKOFF, failures), MAX_RETRY_MS);
}
