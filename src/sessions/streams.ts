/**
 * The streams of one session and their readers. The newest standalone stream carries the messages that
 * belong to no request. Each message goes out on exactly one stream (Streamable HTTP: broadcasting is
 * a MUST NOT).
 */

import { formatEventId, parseEventId } from "./log/event-id.ts";
import type { EventLog } from "./log/event-log.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import type { JsonRpcMessage } from "../protocol/json-rpc.ts";
import type { QuestionStream } from "./asks.ts";
import { type Channel, StreamReader } from "./stream-reader.ts";
import { Renaming } from "./logged-questions.ts";

export interface StreamsOptions {
  readonly log: EventLog;
  readonly stallMs: number;
  /** Called when the number of streams that have a reader may have changed. */
  readonly onReaders: (count: number) => void;
  /** Called when a stream has lost its reader; the stream may stay open. */
  readonly onDetach: (head: StreamMeta) => void;
}

export interface SendOptions {
  /** Resumes the server's stream after this message. */
  readonly resumeToken?: string | undefined;
  readonly isFinal?: boolean;
  /** Answers are logged even beyond the quota. */
  readonly isAnswer?: boolean;
}

/** The place where a reader begins. */
export interface StreamPosition {
  readonly head: StreamMeta;
  readonly after: number;
}

export interface ReadOptions {
  /** The reader was connected before, and knows its place. */
  readonly isKnown?: boolean;
  /** The connection ends after this time; the client reconnects for the rest. */
  readonly holdMs?: number | undefined;
}

export type StreamLookup =
  | { readonly kind: "place"; readonly place: StreamPosition }
  /** No event of this session has such an id. */
  | { readonly kind: "malformed" }
  /** The stream, or some of the events that followed, are no longer kept. */
  | { readonly kind: "gone" };

export class Streams {
  readonly #log: EventLog;
  readonly #stallMs: number;
  readonly #onReaders: (count: number) => void;
  readonly #onDetach: (head: StreamMeta) => void;
  readonly #readers = new Map<StreamMeta, StreamReader>();

  constructor({ log, stallMs, onReaders, onDetach }: StreamsOptions) {
    this.#log = log;
    this.#stallMs = stallMs;
    this.#onReaders = onReaders;
    this.#onDetach = onDetach;
  }

  /** The number of streams that have a reader. */
  get readCount(): number {
    return this.#readers.size;
  }

  openStandalone(): StreamPosition {
    return { head: this.#log.openStandalone(), after: 0 };
  }

  /** Finds the place of the last event that the client received, in that stream and no other. */
  locate(lastEventId: string): StreamLookup {
    const position = parseEventId(lastEventId);
    if (position === undefined) return { kind: "malformed" };
    const found = this.#log.find(position);
    switch (found.kind) {
      case "found":
        this.#log.acknowledge(found.head, position.seq);
        return { kind: "place", place: { head: found.head, after: position.seq } };
      case "foreign":
        return { kind: "malformed" };
      case "gone":
        return { kind: "gone" };
      case "unknown":
        // A standalone stream is not logged before its first event, so the client has missed nothing.
        if (position.stream.kind === "post") return { kind: "gone" };
        return { kind: "place", place: this.openStandalone() };
    }
  }

  /**
   * Attaches a reader to a stream. A stream has one reader, the newest. The older of two is closed, even
   * if it is the one that attaches now: a reader that reconnects late after a restart of the object.
   */
  attach(
    { head, after }: StreamPosition,
    channel: Channel,
    { isKnown = false, holdMs }: ReadOptions = {},
  ): StreamReader {
    const reader = new StreamReader({
      log: this.#log,
      head,
      channel,
      after,
      stallMs: this.#stallMs,
      holdMs,
      onClose: () => this.#detach(head, reader),
    });
    const other = this.#readers.get(head);
    if (other !== undefined && other.openedAt > channel.openedAt) {
      reader.close();
      return reader;
    }
    this.#readers.delete(head); // so that closing it does not count as the client's leaving
    other?.close();
    head.isInUse = true;
    this.#readers.set(head, reader);
    this.#onReaders(this.#readers.size);
    if (!isKnown) reader.prime();
    return reader;
  }

  readerOf(head: StreamMeta): StreamReader | undefined {
    return this.#readers.get(head);
  }

  /** @returns the id of the stream's next event. */
  nextId({ id, last }: StreamMeta): string {
    return formatEventId(id, last + 1);
  }

  /**
   * Appends a message and sends it to the reader, if there is one.
   *
   * @returns when the reader has room for more, or has gone; `false` when the stream's quota is
   *   used up and the message was not appended.
   */
  async send(
    head: StreamMeta,
    message: JsonRpcMessage,
    options: SendOptions = {},
  ): Promise<boolean> {
    if (head.isEnded) return true;
    const { resumeToken, isFinal = false, isAnswer = isFinal } = options;
    const data = JSON.stringify(message);
    const after = head.last;
    const seq = this.#log.append(head, data, { origin: resumeToken, isFinal, isForced: isAnswer });
    if (seq === undefined) return false;
    const reader = this.#readers.get(head);
    reader?.pump({ after, seq, data });
    await reader?.caughtUp();
    return true;
  }

  /** Carries the messages that belong to no request; without a standalone stream, they wait for one. */
  readonly unsolicited: QuestionStream = {
    nextId: () => {
      const head = this.standalone()?.head;
      // Any unique id will do: the message gets another id when it moves to a stream.
      return head === undefined ? crypto.randomUUID() : this.nextId(head);
    },
    send: async (message, resumeToken) => {
      const head = this.standalone()?.head;
      if (head === undefined) {
        this.#log.appendToBacklog(JSON.stringify(message), { origin: resumeToken });
      } else await this.send(head, message, { resumeToken });
    },
  };

  /** The reader of the newest standalone stream that has one. */
  standalone(): StreamReader | undefined {
    let newest: StreamReader | undefined;
    for (const reader of this.#readers.values()) {
      if (reader.head.id.kind !== "standalone") continue;
      if (newest === undefined || reader.openedAt > newest.openedAt) newest = reader;
    }
    return newest;
  }

  /**
   * Sends the messages that waited for a standalone stream on the newest one.
   *
   * @param renamed called for each question with its new id, which is its place.
   */
  carryBacklog(renamed: (from: string, to: string) => void): void {
    const reader = this.standalone();
    if (reader === undefined) return;
    const renaming = new Renaming(renamed);
    this.#log.moveBacklog(reader.head, (data, seq) =>
      renaming.placed(data, formatEventId(reader.head.id, seq)),
    );
    reader.pump();
  }

  /**
   * Notes where the server's standalone stream can be resumed, before any message on it.
   *
   * @param isMore the resume token replaces the known one.
   */
  noteUnsolicited(resumeToken: string | undefined, isMore = false): void {
    let head = this.standalone()?.head;
    for (const other of head === undefined ? this.#log.heads() : []) {
      if (other.id.kind === "standalone") head = other;
    }
    if (head !== undefined && resumeToken !== undefined) this.#log.note(head, resumeToken, isMore);
  }

  /** @returns the resume token of the last message that belonged to no request. */
  lastUnsolicited(): string | undefined {
    let newest: StreamMeta | undefined;
    for (const head of this.#log.heads()) {
      if (head.id.kind === "post" || head.origin === undefined) continue;
      if (newest === undefined || head.newestAt >= newest.newestAt) newest = head;
    }
    return newest?.origin;
  }

  /** Ends a stream; its reader is closed when it has sent every event. */
  end(head: StreamMeta): void {
    this.#log.end(head);
    this.#readers.get(head)?.pump();
  }

  /** Closes every connection. */
  closeAll(): void {
    for (const reader of this.#readers.values()) reader.close();
  }

  #detach(head: StreamMeta, reader: StreamReader): void {
    if (this.#readers.get(head) !== reader) return;
    this.#readers.delete(head);
    this.#onReaders(this.#readers.size);
    head.isInUse = false;
    // A stream without any event can be opened again in place of a resume.
    const isBlank = head.id.kind === "standalone" && head.last === 0 && head.origin === undefined;
    if (isBlank) this.#log.forget(head);
    this.#onDetach(head);
  }
}
