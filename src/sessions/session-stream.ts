/**
 * One stream of a session, as its client knows it: numbered events, of which the latest are kept,
 * so that a client whose connection broke takes it up where it left. The connection underneath
 * comes and goes; the stream ends once.
 */

import { type PushStream } from "../lib/push-stream.ts";
import type { JsonRpcMessage } from "../protocol/json-rpc.ts";
import { encodeEvent } from "../protocol/sse.ts";
import { formatEventId, type StreamId } from "./event-id.ts";

export interface SessionStreamOptions {
  readonly id: StreamId;
  /** HTTP+SSE has no resumption: no ids there, and nothing kept. */
  readonly isResumable: boolean;
  readonly maxKeptChars: number;
  /** A reader that takes nothing for this long loses its connection, but not the stream. */
  readonly stallMs: number;
}

interface Kept {
  readonly seq: number;
  readonly text: string;
}

export class SessionStream {
  readonly id: StreamId;
  readonly #options: SessionStreamOptions;
  #connection: PushStream | undefined;
  #seq = 0;
  #kept: Kept[] = [];
  #keptChars = 0;
  #isEnded = false;

  constructor(options: SessionStreamOptions) {
    this.id = options.id;
    this.#options = options;
  }

  get isAttached(): boolean {
    return this.#connection?.isOpen ?? false;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Gives the stream a connection; an older one is closed, for the newest wins.
   *
   * @param after the last event the client has; 0 for a new stream.
   * @returns `false` when events after that one are no longer kept: nothing was attached then.
   */
  attach(connection: PushStream, after: number): boolean {
    if (after > this.#seq) return false;
    const oldest = this.#kept[0]?.seq ?? this.#seq + 1;
    if (after + 1 < oldest) return false;
    this.#connection?.close();
    this.#connection = connection;
    for (const { seq, text } of this.#kept) if (seq > after) void connection.write(text);
    if (this.#isEnded) connection.close();
    return true;
  }

  /** Sends an event with an id and no data, from which a client can resume before any other. */
  prime(retryMs: number): void {
    const id = formatEventId(this.id, 0);
    void this.#connection?.write(encodeEvent({ id, retry: retryMs, data: "" }));
  }

  /** Appends a message; resolves when the client has room for more, or has gone. */
  async send(message: JsonRpcMessage): Promise<void> {
    if (this.#isEnded) return;
    const seq = ++this.#seq;
    const data = JSON.stringify(message);
    const { isResumable } = this.#options;
    const text = encodeEvent({
      event: "message",
      data,
      ...(isResumable ? { id: formatEventId(this.id, seq) } : {}),
    });
    if (isResumable) this.#keep({ seq, text });
    const connection = this.#connection;
    if (connection === undefined) return;
    void connection.write(text);
    if (connection.isFull) await this.#waitForRoom(connection);
  }

  /** Closes the connection and keeps the stream: the client polls (2025-11-25, SEP-1699). */
  release(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  end(): void {
    this.#isEnded = true;
    this.#connection?.close();
    this.#connection = undefined;
  }

  #keep(event: Kept): void {
    this.#kept.push(event);
    this.#keptChars += event.text.length;
    // The newest is always kept, whatever its size: it may be the answer.
    while (this.#keptChars > this.#options.maxKeptChars && this.#kept.length > 1) {
      this.#keptChars -= this.#kept.shift()?.text.length ?? 0;
    }
  }

  async #waitForRoom(connection: PushStream): Promise<void> {
    const timer = setTimeout(() => connection.close(), this.#options.stallMs);
    await connection.hasRoom();
    clearTimeout(timer);
  }
}
