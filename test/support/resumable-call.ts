/**
 * The client's side of one streamed call, to the letter of 2025-11-25: POST, read, remember the
 * last event, and whenever the connection ends before the response, GET with `Last-Event-ID`. It
 * can be made to crash: from then on events still come in, but they are lost with it.
 */

import type { Json } from "./clients-face.ts";
import { type Cut, type CutAnswer, postAndCut } from "./cut-answer.ts";
import { getFrom, postTo, type RawSession } from "./raw-session.ts";
import { readEvents } from "./read-events.ts";
import { pause, until } from "./until.ts";

/** How long a gateway may be away. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 50;

export interface ResumableCallOptions {
  /** After so many keep-alives in a row the answer is given up: a connection that brings them alone has stalled. */
  readonly maxKeepAlives?: number;
  /** Called with each message that the client has made its own. */
  readonly onMessage?: (message: Json) => void;
}

/** A connection was kept alive, and brought nothing. */
export class Stalled extends Error {
  override readonly name = "Stalled";
}

export class ResumableCall {
  /** Every message that it has made its own, in order: what the person at the client has seen. */
  readonly taken: Json[] = [];
  /** How many messages have come in on the latest connection, taken or not. */
  seen = 0;
  /** The connections that were answered with a stream. */
  connections = 0;
  readonly #session: RawSession;
  readonly #request: Json;
  readonly #maxKeepAlives: number;
  readonly #onMessage: ((message: Json) => void) | undefined;
  #lastEventId: string | undefined;
  #retryMs = PAUSE_MS;

  constructor(
    session: RawSession,
    request: Json,
    { maxKeepAlives = Infinity, onMessage }: ResumableCallOptions = {},
  ) {
    this.#session = session;
    this.#request = request;
    this.#maxKeepAlives = maxKeepAlives;
    this.#onMessage = onMessage;
  }

  /** Before the first event id there is nothing to resume by. */
  get isResumable(): boolean {
    return this.#lastEventId !== undefined;
  }

  get isAnswered(): boolean {
    return this.taken.some(({ id, method }) => id !== undefined && method === undefined);
  }

  /**
   * Sends the request, once, and reads until the connection is over, whatever ends it.
   *
   * @param takes after how many messages of this connection the client crashes.
   */
  async post(takes = Infinity): Promise<void> {
    this.seen = 0;
    const response = await postTo(this.#session, this.#request).catch(() => undefined);
    if (response === undefined) return;
    if (!response.ok) throw await refusal("call", response);
    await this.#read(response, takes);
  }

  /** Sends the request, once, on a connection that is cut, and makes its own what came before that. */
  async postAndCut(cut: Cut): Promise<CutAnswer> {
    this.seen = 0;
    const { url, headers } = this.#session;
    const answer = await postAndCut(url, { headers, body: JSON.stringify(this.#request) }, cut);
    const { status, text } = answer;
    const had = new Response(text, { status });
    if (!had.ok) throw await refusal("call", had);
    await this.#read(had, Infinity);
    return answer;
  }

  /** Takes the stream up where it was left, as soon as there is a gateway, and reads likewise. */
  async resume(takes = Infinity): Promise<void> {
    this.seen = 0;
    let response: Response | undefined;
    await until(
      async () => {
        response = await getFrom(this.#session, this.#lastEventId).catch(() => undefined);
        if (response === undefined || response.status >= 500) await pause(PAUSE_MS);
        return response !== undefined && response.status < 500;
      },
      "a gateway to resume at",
      PATIENCE_MS,
    );
    if (response?.ok !== true) throw await refusal("resume", response);
    await this.#read(response, takes);
  }

  async resumeUntilAnswered(): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!this.isAnswered) {
      if (Date.now() > deadline) throw new Error(`No answer within ${PATIENCE_MS} ms`);
      await this.resume();
      if (!this.isAnswered) await pause(this.#retryMs);
    }
  }

  async #read(response: Response, takes: number): Promise<void> {
    this.connections += 1;
    let keepAlives = 0;
    try {
      await readEvents(response, {
        comment: () => {
          keepAlives += 1;
          if (keepAlives > this.#maxKeepAlives) throw new Stalled();
        },
        event: ({ id, data }) => {
          keepAlives = 0;
          const isMessage = data !== "";
          if (isMessage) this.seen += 1;
          if (this.seen > takes) return;
          this.#lastEventId = id ?? this.#lastEventId;
          if (!isMessage) return;
          const message = JSON.parse(data) as Json;
          this.taken.push(message);
          this.#onMessage?.(message);
        },
        retry: (ms) => {
          this.#retryMs = ms;
        },
      });
    } catch (error) {
      if (error instanceof Stalled) throw error;
      // A connection that breaks is a connection that is over.
    }
  }
}

async function refusal(what: string, response: Response | undefined): Promise<Error> {
  const text = await response?.text().catch(() => "");
  return new Error(`The ${what} was refused with ${response?.status}: ${text}`);
}
