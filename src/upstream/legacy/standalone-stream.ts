/**
 * The stream of what belongs to no request, which a client opens with GET (2025-11-25, listening for
 * messages from the server). It is opened again whenever it ends, unless the server has none.
 */

import { mediaType } from "../../lib/media-type.ts";
import { sleep } from "../../lib/sleep.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { ResumePoint } from "../read-messages.ts";
import { UpstreamError } from "../upstream-error.ts";
import { pauseBefore } from "./pause-before.ts";
import type { Deliver, StandaloneStreamListener } from "./wire.ts";

/** The transport that it is opened over. */
export interface StandaloneTransport {
  readonly get: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;
  /** Delivers what a stream brings, until it ends or `isOver`. Rejects when it breaks. */
  readonly drain: (
    response: Response,
    resume: ResumePoint,
    deliver: Deliver,
    isOver: () => boolean,
  ) => Promise<void>;
  /** Reads why it was refused. Rejects with `session-lost` when the session is forgotten. */
  readonly readRefusal: (response: Response) => Promise<unknown>;
}

/** Pauses in a row that the server may choose while its stream brings nothing. */
const MAX_BARREN = 5;
/** Between two streams, whatever the server asks for. */
const MIN_PAUSE_MS = 100;
const BAD_REQUEST = 400;
const CONFLICT = 409;
const CONFLICT_PAUSE_MS = 20;
const MAX_CONFLICTS = 6;
const SERVER_ERROR = 500;
/** A stream of ours is open still, or there are too many requests. */
const NOT_NOW: ReadonlySet<number> = new Set([408, CONFLICT, 429]);
/** A stream that stood for this long was a good one, though it brought nothing. */
const STEADY_MS = 10_000;
/** Some servers send no head before there is something to say: those are waited for once. */
const MAX_OPENING_MS = 2000;

export class StandaloneStream {
  readonly #transport: StandaloneTransport;
  #listening: AbortController | undefined;
  #opening: Promise<void> | undefined;
  /** The last time the server was asked, its answer was not worth waiting for. */
  #isLate = false;

  constructor(transport: StandaloneTransport) {
    this.#transport = transport;
  }

  /**
   * The server is being asked for the stream, and has not answered yet: what it says there because of
   * a request that overtakes this would be lost, and a server that asked something would wait for the
   * answer. Settles when it has answered, or takes too long to be waited for; never rejects.
   */
  get opening(): Promise<void> | undefined {
    return this.#opening;
  }

  /** Calling it again is harmless. @param lastEventId the last event of it that is known. */
  listen(listener: StandaloneStreamListener, lastEventId?: string): void {
    if (this.#listening !== undefined) {
      listener.standing?.();
      return;
    }
    const listening = new AbortController();
    this.#listening = listening;
    const resume: ResumePoint = {
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

  /** @returns to be called when the server has answered, or cannot. */
  #awaitAnswer(onStanding: (() => void) | undefined): () => void {
    const { promise, resolve } = Promise.withResolvers<true>();
    const opening = settleWithin(promise, MAX_OPENING_MS).then((isAnswered) => {
      onStanding?.();
      this.#isLate = isAnswered === undefined;
      if (this.#opening === opening) this.#opening = undefined;
    });
    this.#opening = this.#isLate ? undefined : opening;
    return () => resolve(true);
  }

  async #run(
    listener: StandaloneStreamListener,
    resume: ResumePoint,
    signal: AbortSignal,
    onAnswered: () => void,
  ): Promise<void> {
    for (let failures = 0, conflicts = 0; !signal.aborted;) {
      try {
        const { lastEventId } = resume;
        const response = await this.#transport.get(lastEventId, signal);
        if (response.status === CONFLICT && conflicts < MAX_CONFLICTS) {
          // The stream of whoever listened before us is not closed yet; it waits for us, maybe.
          listener.standing?.();
          await response.body?.cancel();
          await sleep(CONFLICT_PAUSE_MS * 2 ** conflicts++, signal);
          continue;
        }
        onAnswered();
        conflicts = 0;
        failures += 1;
        if (response.ok && isEventStream(response)) {
          listener.opened?.(lastEventId !== undefined);
          const isOfUse = await this.#hear(response, listener, resume, signal);
          if (isOfUse) failures = 0;
        } else if (!(await this.#mayListenAgain(response, resume, listener))) {
          return;
        }
      } catch {
        onAnswered(); // not at all: a request that waits finds out for itself
        failures += 1; // whatever it was, the stream is opened again, or was aborted
      }
      // A server that has us come back for nothing again and again does not say when.
      const pauseMs = pauseBefore(failures > MAX_BARREN ? {} : resume, failures);
      await sleep(Math.max(pauseMs, MIN_PAUSE_MS), signal).catch(() => undefined); // aborted: leave
    }
  }

  /** @returns whether the stream was of use: it brought something, or stood for a while. */
  async #hear(
    response: Response,
    { deliver, broken }: StandaloneStreamListener,
    resume: ResumePoint,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { lastEventId } = resume;
    const openedAt = Date.now();
    let hasSpoken = false;
    const hear: Deliver = (parsed, id) => {
      hasSpoken = true;
      return deliver(parsed, id);
    };
    try {
      await this.#transport.drain(response, resume, hear, () => signal.aborted);
    } catch {
      // However it ended, it is opened again.
    }
    if (!signal.aborted) broken?.();
    return hasSpoken || resume.lastEventId !== lastEventId || Date.now() - openedAt > STEADY_MS;
  }

  async #mayListenAgain(
    response: Response,
    resume: ResumePoint,
    { onLost, refused }: StandaloneStreamListener,
  ): Promise<boolean> {
    const { status } = response;
    let isForgotten = false;
    // What is no event stream is none of ours, whatever it is.
    if (response.ok) await response.body?.cancel();
    else {
      await this.#transport.readRefusal(response).catch((error: unknown) => {
        isForgotten = error instanceof UpstreamError && error.failure === "session-lost";
      });
    }
    // A place that the server no longer knows is not worth losing all that comes after it.
    if (status === BAD_REQUEST && resume.lastEventId !== undefined) {
      delete resume.lastEventId;
      return true;
    }
    if (isForgotten) onLost();
    const isOnlyNow = status >= SERVER_ERROR || NOT_NOW.has(status);
    // 405: there is no such stream.
    if (!isForgotten && !isOnlyNow) refused?.();
    return !isForgotten && isOnlyNow;
  }
}

function isEventStream(response: Response): boolean {
  return mediaType(response.headers.get("content-type")) === "text/event-stream";
}
