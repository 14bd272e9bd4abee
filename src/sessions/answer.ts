/**
 * The answer to one POST, while it is being made, and the two forms that it takes.
 *
 * Streamable HTTP: one JSON body if the reply comes first and comes soon; a stream of its own as
 * soon as anything precedes it, be it the upstream's offer to be resumed, or it takes its time.
 * HTTP+SSE: everything goes out on the one stream of the session. An answer that may be waited for
 * on another connection is on record, so that it comes whatever happens to the session's holder.
 */

import type { EventLog } from "./log/event-log.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from "../protocol/json-rpc.ts";
import type { QuestionStream } from "./asks.ts";
import { writeRecord } from "./call-record.ts";
import type { Opened, SessionOutcome } from "./session-outcome.ts";
import type { Streams } from "./streams.ts";

interface AnswerOptions {
  readonly log: EventLog;
  readonly streams: Streams;
  readonly requests: readonly JsonRpcRequest[];
}

interface PostAnswerOptions extends AnswerOptions {
  readonly streamAfterMs: number;
  /** The stream's quota is used up: the call is to end. */
  readonly onFull: () => void;
  /** Gives the stream its first reader. */
  readonly read: (head: StreamMeta) => Opened;
}

export class PostAnswer implements QuestionStream {
  /** Settles as soon as it is known which form the answer takes. */
  readonly outcome: Promise<SessionOutcome>;
  readonly #options: PostAnswerOptions;
  readonly #resolve: (outcome: SessionOutcome) => void;
  readonly #timer: number;
  #head: StreamMeta | undefined;
  #outstanding: number;
  /** Leads to who answers, until something is known that leads further. */
  #resumeToken: string | undefined;

  constructor(options: PostAnswerOptions) {
    const { promise, resolve } = Promise.withResolvers<SessionOutcome>();
    this.outcome = promise;
    this.#options = options;
    this.#resolve = resolve;
    this.#outstanding = options.requests.length;
    this.#timer = setTimeout(() => this.open(), options.streamAfterMs);
  }

  /** It is known who answers. */
  routed(resumeToken: string): void {
    this.#resumeToken = resumeToken;
  }

  /** The upstream can be taken up from its beginning: what it offers is passed on. */
  prime(ticket: string | undefined): void {
    const isNoted = this.#head !== undefined && ticket !== undefined;
    const head = this.open(ticket);
    if (isNoted) this.#options.log.note(head, ticket, head.origin === this.#resumeToken);
  }

  /** Commits to a stream. @param ticket what takes the upstream up from there. */
  open(ticket: string | undefined = this.#resumeToken): StreamMeta {
    if (this.#head !== undefined) return this.#head;
    const { log, requests, read } = this.#options;
    clearTimeout(this.#timer);
    const head = log.openPost(writeRecord(requests), ticket);
    this.#head = head;
    this.#resolve({ kind: "stream", ...read(head) });
    return head;
  }

  nextId(): string {
    return this.#options.streams.nextId(this.open());
  }

  async send(message: JsonRpcMessage, ticket?: string): Promise<void> {
    const { streams, onFull } = this.#options;
    const isTaken = await streams.send(this.open(), message, { ticket });
    if (!isTaken) onFull();
  }

  /** Gives one reply; a JSON body has room for only one. */
  async reply(body: JsonRpcResponse): Promise<void> {
    this.#outstanding -= 1;
    if (this.#head === undefined) this.#resolve({ kind: "json", body });
    else {
      const isFinal = this.#outstanding === 0;
      await this.#options.streams.send(this.#head, body, { isFinal, isAnswer: true });
    }
  }

  /** Closes the connection but not the stream: the client comes back for the rest. */
  release(): void {
    this.#options.streams.feedOf(this.open())?.close();
  }

  /** Nothing more will come. */
  end(): void {
    clearTimeout(this.#timer);
    if (this.#head !== undefined) this.#options.streams.end(this.#head);
    this.#resolve({ kind: "cancelled" });
  }
}

export class SharedAnswer implements QuestionStream {
  readonly #options: AnswerOptions;
  /** Its client waits on another connection, so it is on record from the beginning. */
  readonly #record: StreamMeta;
  #outstanding: number;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#outstanding = options.requests.length;
    this.#record = options.log.openPost(writeRecord(options.requests));
  }

  routed(): void {
    // The record is written already, and a call of this transport ends with its object.
  }

  prime(): void {
    // Nothing is taken up here: what was said on the shared stream cannot be told apart.
  }

  nextId(): string {
    return this.#options.streams.unsolicited.nextId();
  }

  send(message: JsonRpcMessage): Promise<void> {
    return this.#options.streams.unsolicited.send(message);
  }

  reply(body: JsonRpcResponse): Promise<void> {
    this.#outstanding -= 1;
    const sent = this.send(body);
    // In the same turn: a record without its answer would be answered again.
    if (this.#outstanding === 0) this.end();
    return sent;
  }

  release(): void {
    // The stream is everybody's.
  }

  end(): void {
    this.#options.log.forget(this.#record);
  }
}
