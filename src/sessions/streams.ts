/**
 * The streams of one session and their readers. The newest standalone stream carries the messages that
 * belong to no request. Each message goes out on exactly one stream (Streamable HTTP: broadcasting is
 * a MUST NOT).
 */

import { formatEventId, parseEventId, type Position } from "./log/event-id.ts";
import type { EventLog } from "./log/event-log.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import type { JsonRpcMessage } from "../protocol/json-rpc.ts";
import { type QuestionStream, Renaming } from "./asks.ts";
import { GroupCommit } from "./group-commit.ts";
import { type Channel, StreamReader } from "./stream-reader.ts";

export interface StreamsOptions {
  readonly log: EventLog;
  /** The standalone stream carries the answers to calls too (HTTP+SSE): its client must miss nothing of it. */
  readonly hasAnswers: boolean;
  /** Resolves when everything that the log has written is durable. */
  readonly synced: () => Promise<void>;
  readonly stallMs: number;
  /** Called when the number of streams that have a reader may have changed. */
  readonly onReaders: (count: number) => void;
  /** Called when a stream has lost its reader; the stream may stay open. */
  readonly onDetach: (meta: StreamMeta) => void;
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
  readonly meta: StreamMeta;
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
  readonly #hasAnswers: boolean;
  readonly #stallMs: number;
  readonly #onReaders: (count: number) => void;
  readonly #onDetach: (meta: StreamMeta) => void;
  readonly #readers = new Map<StreamMeta, StreamReader>();
  readonly #groupCommit: GroupCommit;

  constructor({ log, hasAnswers, synced, stallMs, onReaders, onDetach }: StreamsOptions) {
    this.#log = log;
    this.#hasAnswers = hasAnswers;
    this.#groupCommit = new GroupCommit(() => this.#commit(), synced);
    this.#stallMs = stallMs;
    this.#onReaders = onReaders;
    this.#onDetach = onDetach;
  }

  /** The number of streams that have a reader. */
  get readCount(): number {
    return this.#readers.size;
  }

  openStandalone(): StreamPosition {
    return { meta: this.#log.openStandalone(), after: 0 };
  }

  /** Finds the place of the last event that the client received, in that stream and no other. */
  locate(lastEventId: string): StreamLookup {
    const position = parseEventId(lastEventId);
    if (position === undefined) return { kind: "malformed" };
    const found = this.#log.find(position);
    switch (found.kind) {
      case "found":
        this.#log.acknowledge(found.meta, position.seq);
        return { kind: "place", place: { meta: found.meta, after: position.seq } };
      case "foreign":
        return { kind: "malformed" };
      case "gone":
        return { kind: "gone" };
      case "unknown":
        // A standalone stream is not logged before its first event, so the client has missed nothing.
        if (position.stream.kind === "post") return { kind: "gone" };
        return { kind: "place", place: this.#inPlaceOf(position) };
    }
  }

  /** The client may come back with the same id once more, when what went out to it here did not arrive. */
  #inPlaceOf({ stream, seq }: Position): StreamPosition {
    return { meta: this.#log.openStandalone(seq === 0 ? stream : undefined), after: 0 };
  }

  /**
   * Attaches a reader to a stream. A stream has one reader, the newest. The older of two is closed, even
   * if it is the one that attaches now: a reader that reconnects late after a restart of the object.
   */
  attach(
    { meta, after }: StreamPosition,
    channel: Channel,
    { isKnown = false, holdMs }: ReadOptions = {},
  ): StreamReader {
    const reader = new StreamReader({
      log: this.#log,
      meta,
      channel,
      after,
      stallMs: this.#stallMs,
      holdMs,
      onClose: () => this.#detach(meta, reader),
    });
    const other = this.#readers.get(meta);
    if (other !== undefined && other.openedAt > channel.openedAt) {
      reader.close();
      return reader;
    }
    this.#readers.delete(meta); // so that closing it does not count as the client's leaving
    other?.close();
    meta.isInUse = true;
    this.#readers.set(meta, reader);
    this.#onReaders(this.#readers.size);
    if (!isKnown) reader.prime();
    return reader;
  }

  readerOf(meta: StreamMeta): StreamReader | undefined {
    return this.#readers.get(meta);
  }

  /** @returns the id of the stream's next event. */
  nextId({ id, last }: StreamMeta): string {
    return formatEventId(id, last + 1);
  }

  /**
   * Appends a message and sends it to the reader, if there is one. The notifications of a call that come
   * in a burst are written in one row and sent together; nobody waits for one of them.
   *
   * @returns when the reader has room for more, or has gone; `false` when the stream's quota is
   *   used up and the message was not appended.
   */
  async send(
    meta: StreamMeta,
    message: JsonRpcMessage,
    options: SendOptions = {},
  ): Promise<boolean> {
    if (meta.isEnded) return true;
    const { resumeToken, isFinal = false, isAnswer = isFinal } = options;
    const data = JSON.stringify(message);
    const after = meta.last;
    const isShared = meta.id.kind === "post" && isNotification(message);
    const event = { resumeToken, isFinal, isForced: isAnswer, isShared };
    const seq = this.#log.append(meta, data, event);
    if (seq === undefined) return false;
    const reader = this.#readers.get(meta);
    reader?.append({ after, seq, data });
    if (isShared) this.#groupCommit.request();
    else reader?.pump();
    await reader?.caughtUp();
    return true;
  }

  #commit(): void {
    this.#log.flush();
    for (const reader of this.#readers.values()) reader.pump();
  }

  /** Carries the messages that belong to no request; without a standalone stream, they wait for one. */
  readonly unsolicited: QuestionStream = {
    nextId: () => {
      const meta = this.standalone()?.meta;
      // Any unique id will do: the message gets another id when it moves to a stream.
      return meta === undefined ? crypto.randomUUID() : this.nextId(meta);
    },
    send: async (message, resumeToken) => {
      const meta = this.standalone()?.meta;
      if (meta === undefined) {
        this.#log.appendToBacklog(JSON.stringify(message), { resumeToken });
      } else await this.send(meta, message, { resumeToken });
    },
  };

  /** The reader of the newest standalone stream that has one. */
  standalone(): StreamReader | undefined {
    let newest: StreamReader | undefined;
    for (const reader of this.#readers.values()) {
      if (reader.meta.id.kind !== "standalone") continue;
      if (newest === undefined || reader.openedAt > newest.openedAt) newest = reader;
    }
    return newest;
  }

  /**
   * Sends the messages that waited for a standalone stream on the newest one.
   *
   * @param renamed called for each question with its new id, which is its place.
   * @returns `true` when messages that waited are no longer kept.
   */
  carryBacklog(renamed: (from: string, to: string) => void): boolean {
    const reader = this.standalone();
    if (reader === undefined) return false;
    const renaming = new Renaming(renamed);
    const hasLost = this.#log.moveBacklog(reader.meta, (data, seq) =>
      renaming.placed(data, formatEventId(reader.meta.id, seq)),
    );
    // This client can resume nothing: the end of its stream is how it learns that it has missed something.
    if (hasLost && this.#hasAnswers) reader.close();
    else reader.pump();
    return hasLost;
  }

  /**
   * Notes where the server's standalone stream can be resumed, before any message on it.
   *
   * @param isMore the resume token replaces the known one.
   */
  noteUnsolicited(resumeToken: string | undefined, isMore = false): void {
    let meta = this.standalone()?.meta;
    for (const other of meta === undefined ? this.#log.streams() : []) {
      if (other.id.kind === "standalone") meta = other;
    }
    if (meta !== undefined && resumeToken !== undefined) this.#log.note(meta, resumeToken, isMore);
  }

  /** @returns the resume token of the last message that belonged to no request. */
  lastUnsolicited(): string | undefined {
    let newest: StreamMeta | undefined;
    for (const meta of this.#log.streams()) {
      if (meta.id.kind === "post" || meta.resumeToken === undefined) continue;
      if (newest === undefined || meta.newestAt >= newest.newestAt) newest = meta;
    }
    return newest?.resumeToken;
  }

  /** @returns the resume tokens of the newest messages that belonged to no request. */
  recentUnsolicited(): readonly string[] {
    const metas = [...this.#log.streams()].filter(({ id }) => id.kind !== "post");
    return metas.flatMap((meta) => [...this.#log.recentResumeTokens(meta)]);
  }

  /** Ends a stream; its reader is closed when it has sent every event. */
  end(meta: StreamMeta): void {
    this.#log.end(meta);
    this.#readers.get(meta)?.pump();
  }

  /** Closes every connection. */
  closeAll(): void {
    for (const reader of this.#readers.values()) reader.close();
  }

  #detach(meta: StreamMeta, reader: StreamReader): void {
    if (this.#readers.get(meta) !== reader) return;
    this.#readers.delete(meta);
    this.#onReaders(this.#readers.size);
    meta.isInUse = false;
    // A stream without any event can be opened again in place of a resume.
    const isBlank =
      meta.id.kind === "standalone" && meta.last === 0 && meta.resumeToken === undefined;
    if (isBlank) this.#log.forget(meta);
    this.#onDetach(meta);
  }
}

function isNotification(message: JsonRpcMessage): boolean {
  return "method" in message && !("id" in message);
}
