/**
 * The streams of a session: those that answer requests, and the standalone one. A stream that breaks goes on
 * after the last event that the host has (Streamable HTTP, resumability and redelivery).
 */

import { pauseMs } from "../../src/lib/backoff.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { type Place, readEvents } from "../http/event-stream.ts";
import { Broken, LoginNeeded } from "../http/failures.ts";
import type { Gateway, GatewayRequest } from "../http/gateway.ts";
import { isStream } from "./answers.ts";
import type { Call, Calls } from "./calls.ts";
import { deadlineOf } from "./options.ts";

type Headers = Readonly<Record<string, string>>;

const ACCEPT = { accept: "text/event-stream" } as const;
/** A call goes on at the gateway without its client; its events are kept for an hour. */
const RESUME_FOR_MS = 3_600_000;
export const SIGNED_OUT_PAUSE_MS = 10_000;
const PAUSES = { firstMs: 100, maxMs: 30_000 } as const;

export class LegacyStreams {
  readonly #gateway: Gateway;
  readonly #calls: Calls;

  constructor(gateway: Gateway, calls: Calls) {
    this.#gateway = gateway;
    this.#calls = calls;
  }

  /**
   * Passes on what answers requests, until each has its answer or nothing more can come.
   *
   * @param asked those that are not over at the end had no event by which their stream could be taken up.
   * @throws Broken when the gateway no longer has the stream.
   */
  async follow(
    first: Response,
    asked: readonly Call[],
    session: Headers,
    signal: AbortSignal,
  ): Promise<void> {
    const place: Place = {};
    const isOver = (): boolean => asked.every((call) => call.isOver);
    for (let response = first; ;) {
      await this.#pass(response, place, isOver);
      if (isOver() || place.lastEventId === undefined) return;
      const [only, ...others] = asked;
      const over = others.length === 0 && only !== undefined ? only.over : signal;
      await sleep(place.retryMs ?? PAUSES.firstMs, over);
      const headers = { ...ACCEPT, ...session, "last-event-id": place.lastEventId };
      const request = { method: "GET", headers, signal } as const;
      const deadline = deadlineOf({ deadlineMs: RESUME_FOR_MS });
      response = await this.#gateway.send(request, { deadline, waiting: over });
      if (isStream(response)) continue;
      await response.body?.cancel();
      throw new Broken(`its stream cannot be taken up again, status ${response.status}`);
    }
  }

  /**
   * Holds the standalone stream open.
   *
   * @param onMissed called when the stream has begun where the host may have missed something.
   * @param hasMissed the first one begins there.
   * @returns when the gateway offers none (405), or does not know the session (404).
   */
  async listen(
    session: Headers,
    signal: AbortSignal,
    onMissed: () => Promise<void>,
    hasMissed: boolean,
  ): Promise<"none" | "unknown session"> {
    const place: Place = {};
    let isBehind = hasMissed;
    for (let failures = 0; ; failures++) {
      const after = place.lastEventId === undefined ? {} : { "last-event-id": place.lastEventId };
      const request = {
        method: "GET",
        headers: { ...ACCEPT, ...session, ...after },
        signal,
      } as const;
      const response = await this.#unlessSignedOut(request, signal);
      if (isStream(response)) {
        failures = 0;
        if (isBehind) await onMissed();
        isBehind = false;
        await this.#pass(response, place, () => signal.aborted);
        await sleep(place.retryMs ?? PAUSES.firstMs, signal);
        continue;
      }
      await response.body?.cancel();
      if (response.status === 405) return "none";
      if (response.status === 404) return "unknown session";
      // The events after the place are no longer kept, so the stream begins anew.
      if (response.status === 400 && place.lastEventId !== undefined) {
        delete place.lastEventId;
        isBehind = true;
      }
      await sleep(pauseMs(PAUSES, failures), signal);
    }
  }

  /** Waits while nobody is signed in: a request of the host has somebody sign in. */
  async #unlessSignedOut(request: GatewayRequest, signal: AbortSignal): Promise<Response> {
    for (;;) {
      try {
        return await this.#gateway.send(request, { deadline: Infinity });
      } catch (error) {
        if (!(error instanceof LoginNeeded)) throw error;
      }
      await sleep(SIGNED_OUT_PAUSE_MS, signal);
    }
  }

  /** Passes on the events of one connection, whatever ends it. */
  async #pass(response: Response, place: Place, isOver: () => boolean): Promise<void> {
    try {
      for await (const text of readEvents(response, place)) {
        await this.#calls.deliver(text);
        if (isOver()) return;
      }
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
    }
  }
}
