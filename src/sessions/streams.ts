/**
 * The streams of one session: which are open, which may still be resumed, and which one carries
 * a message that belongs to no request. Each message goes out on exactly one of them
 * (Streamable HTTP: broadcasting is a MUST NOT).
 */

import { PushStream } from "../lib/push-stream.ts";
import type { JsonRpcMessage } from "../protocol/json-rpc.ts";
import { parseEventId, type StreamKind, streamKey } from "./event-id.ts";
import type { Opened } from "./outcome.ts";
import { SessionStream } from "./session-stream.ts";

export interface StreamLimits {
  readonly windowBytes: number;
  readonly maxKeptChars: number;
  readonly stallMs: number;
  readonly maxOpenStreams: number;
  readonly maxKeptStreams: number;
  readonly maxBacklog: number;
}

export type Resumed =
  | ({ readonly kind: "stream"; readonly stream: SessionStream } & Opened)
  /** The text was never minted here. */
  | { readonly kind: "malformed" }
  /** The stream, or a part of what followed, is no longer kept. */
  | { readonly kind: "gone" };

export class Streams {
  readonly #streams = new Map<string, SessionStream>();
  readonly #connections = new Map<number, PushStream>();
  readonly #limits: StreamLimits;
  readonly #life: string;
  readonly #isResumable: boolean;
  readonly #onDetach: (stream: SessionStream) => void;
  #count = 0;
  #connectionCount = 0;
  /** What came while no stream was there to carry it; the oldest go first. */
  #backlog: JsonRpcMessage[] = [];

  /** @param onDetach a client's connection has gone, though its stream may go on. */
  constructor(options: {
    limits: StreamLimits;
    life: string;
    isResumable: boolean;
    onDetach: (stream: SessionStream) => void;
  }) {
    this.#limits = options.limits;
    this.#life = options.life;
    this.#isResumable = options.isResumable;
    this.#onDetach = options.onDetach;
  }

  get isFull(): boolean {
    let attached = 0;
    for (const stream of this.#streams.values()) if (stream.isAttached) attached += 1;
    return attached >= this.#limits.maxOpenStreams;
  }

  open(kind: StreamKind): { readonly stream: SessionStream } & Opened {
    const { maxKeptChars, stallMs } = this.#limits;
    const id = { kind, life: this.#life, number: ++this.#count };
    const stream = new SessionStream({
      id,
      isResumable: this.#isResumable,
      maxKeptChars,
      stallMs,
    });
    this.#streams.set(streamKey(id), stream);
    this.#trim();
    const { push, ...opened } = this.#connect(stream);
    stream.attach(push, 0);
    return { stream, ...opened };
  }

  /** Takes a stream up after the event that the client saw last, and only that stream. */
  resume(lastEventId: string): Resumed {
    const position = parseEventId(lastEventId);
    if (position === undefined) return { kind: "malformed" };
    const stream = this.#streams.get(streamKey(position.stream));
    if (stream === undefined) {
      // A standalone stream of an earlier life had nothing that is still owed.
      if (position.stream.kind === "post") return { kind: "gone" };
      return { kind: "stream", ...this.open("standalone") };
    }
    const { push, ...opened } = this.#connect(stream);
    if (!stream.attach(push, position.seq)) return { kind: "gone" };
    return { kind: "stream", stream, ...opened };
  }

  /** Sends what belongs to no request, on the newest standalone stream, or when there is one. */
  async sendUnsolicited(message: JsonRpcMessage): Promise<void> {
    const carrier = this.standalone();
    if (carrier !== undefined) return carrier.send(message);
    this.#backlog.push(message);
    if (this.#backlog.length > this.#limits.maxBacklog) this.#backlog.shift();
  }

  flushBacklog(stream: SessionStream): void {
    const backlog = this.#backlog;
    this.#backlog = [];
    for (const message of backlog) void stream.send(message);
  }

  /** The newest attached standalone stream: its client is the likeliest to be alive. */
  standalone(): SessionStream | undefined {
    let newest: SessionStream | undefined;
    for (const stream of this.#streams.values()) {
      if (stream.id.kind === "standalone" && stream.isAttached) newest = stream;
    }
    return newest;
  }

  endAll(): void {
    for (const stream of this.#streams.values()) stream.end();
    this.#streams.clear();
  }

  /** The reader of a connection has gone. */
  detach(connection: number): void {
    this.#connections.get(connection)?.abandon();
  }

  #connect(stream: SessionStream): { readonly push: PushStream } & Opened {
    const push = new PushStream({
      windowBytes: this.#limits.windowBytes,
      onCancel: () => this.#onDetach(stream),
    });
    for (const [number, { isOpen }] of this.#connections) {
      if (!isOpen) this.#connections.delete(number);
    }
    const connection = ++this.#connectionCount;
    this.#connections.set(connection, push);
    return { push, body: push.body, connection };
  }

  /** Ended and deserted streams wait here for a resume; the oldest are let go first. */
  #trim(): void {
    for (const [key, stream] of this.#streams) {
      if (this.#streams.size <= this.#limits.maxKeptStreams) return;
      const isIdle = stream.isEnded || (stream.id.kind === "standalone" && !stream.isAttached);
      if (isIdle) this.#streams.delete(key);
    }
  }
}
