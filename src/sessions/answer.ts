/**
 * The answer to one POST while its requests run, in the two forms that it takes.
 *
 * Streamable HTTP: one JSON body if the reply comes first and soon. Otherwise a stream of its own,
 * opened by any message before the reply, by the server's offer to be resumed, or by the time-out.
 * HTTP+SSE: every message goes out on the one stream of the session. An answer for which the client
 * may wait on another connection is recorded, so that it survives the loss of the session's object.
 */

import type { EventLog } from "./log/event-log.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from "../protocol/json-rpc.ts";
import type { QuestionStream } from "./asks.ts";
import { writeRecord } from "./calls.ts";
import type { Opened, SessionOutcome } from "./session-outcome.ts";
import type { Streams } from "./streams.ts";

interface AnswerOptions {
  readonly log: EventLog;
  readonly streams: Streams;
}

interface PostAnswerOptions extends AnswerOptions {
  readonly requests: readonly JsonRpcRequest[];
  readonly streamAfterMs: number;
  /** Called when the stream's quota is used up: the call has to end. */
  readonly onFull: () => void;
  /** Gives the stream its first reader. */
  readonly read: (meta: StreamMeta) => Opened;
}

export class PostAnswer implements QuestionStream {
  /** Settles as soon as the form of the answer is decided. */
  readonly outcome: Promise<SessionOutcome>;
  readonly #options: PostAnswerOptions;
  readonly #resolve: (outcome: SessionOutcome) => void;
  readonly #timer: number;
  #meta: StreamMeta | undefined;
  #outstanding: number;
  #isOver = false;
  /** Finds the server that answers; replaced when the server offers a later place to resume from. */
  #resumeToken: string | undefined;

  constructor(options: PostAnswerOptions) {
    const { promise, resolve } = Promise.withResolvers<SessionOutcome>();
    this.outcome = promise;
    this.#options = options;
    this.#resolve = resolve;
    this.#outstanding = options.requests.length;
    this.#timer = setTimeout(() => this.open(), options.streamAfterMs);
  }

  /** Notes the server that answers. */
  routed(resumeToken: string): void {
    this.#resumeToken = resumeToken;
  }

  /** Passes on the server's offer: its stream can be resumed from the beginning. */
  prime(resumeToken: string | undefined): void {
    if (this.#isLate) return;
    const isNoted = this.#meta !== undefined && resumeToken !== undefined;
    const meta = this.open(resumeToken);
    if (isNoted) this.#options.log.note(meta, resumeToken, meta.resumeToken === this.#resumeToken);
  }

  /** Commits to a stream. @param resumeToken resumes the server's stream from there. */
  open(resumeToken: string | undefined = this.#resumeToken): StreamMeta {
    if (this.#meta !== undefined) return this.#meta;
    const { log, requests, read } = this.#options;
    clearTimeout(this.#timer);
    const meta = log.openPost(writeRecord(requests), resumeToken);
    this.#meta = meta;
    this.#resolve({ kind: "stream", ...read(meta) });
    return meta;
  }

  nextId(): string {
    return this.#options.streams.nextId(this.open());
  }

  async send(message: JsonRpcMessage, resumeToken?: string): Promise<void> {
    if (this.#isLate) return;
    const { streams, onFull } = this.#options;
    const isTaken = await streams.send(this.open(), message, { resumeToken });
    if (!isTaken) onFull();
  }

  /** Sends one reply; a JSON body has room for only one. */
  async reply(body: JsonRpcResponse): Promise<void> {
    this.#outstanding -= 1;
    if (this.#meta === undefined) this.#resolve({ kind: "json", body });
    else {
      const isFinal = this.#outstanding === 0;
      await this.#options.streams.send(this.#meta, body, { isFinal, isAnswer: true });
    }
  }

  /** Closes the connection but not the stream: the client reconnects for the rest. */
  release(): void {
    this.#options.streams.readerOf(this.open())?.closeForPolling();
  }

  /** Ends the answer: no message follows. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (this.#meta !== undefined) this.#options.streams.end(this.#meta);
    this.#resolve({ kind: "cancelled" });
  }

  /** It is over without a stream: nobody would read one, and a later life would take its call up. */
  get #isLate(): boolean {
    return this.#isOver && this.#meta === undefined;
  }
}

export class SharedAnswer implements QuestionStream {
  readonly #options: AnswerOptions;
  /** Written from the beginning, since the client waits on another connection. */
  readonly #record: StreamMeta;

  /** @param request the only one: what the shared stream carries does not show which of several was answered. */
  constructor(options: AnswerOptions, request: JsonRpcRequest) {
    this.#options = options;
    this.#record = options.log.openPost(writeRecord([request]));
  }

  routed(): void {
    // The record is written already, and a call of this transport ends with its object.
  }

  prime(): void {
    // Nothing is resumed here: messages on the shared stream cannot be matched to their calls.
  }

  nextId(): string {
    return this.#options.streams.unsolicited.nextId();
  }

  send(message: JsonRpcMessage): Promise<void> {
    return this.#options.streams.unsolicited.send(message);
  }

  reply(body: JsonRpcResponse): Promise<void> {
    const sent = this.send(body);
    // In the same turn of the event loop: a call whose record is left would be answered again.
    this.end();
    return sent;
  }

  release(): void {
    // All calls share the stream.
  }

  end(): void {
    this.#options.log.forget(this.#record);
  }
}
