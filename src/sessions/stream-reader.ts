/**
 * One reader of one stream: copies the events of the log to a channel, no faster than the channel has
 * room. The events that the reader has not sent yet wait in the log, not in memory.
 */

import { formatEventId } from "./log/event-id.ts";
import type { EventLog } from "./log/event-log.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import { eventFrame } from "./frame.ts";

/** The connection to the Worker that holds the client's stream. */
export interface Channel {
  /** When the client opened it: unique in a session, and highest for the newest channel. */
  readonly openedAt: number;
  /** False when the reader is behind by more than a window. */
  readonly hasRoom: boolean;
  send(frame: string): void;
  /** Notes the last event that was sent, for a channel that outlives the memory of its object. */
  sentUpTo(seq: number): void;
  /** Ends this connection on purpose; a connection that breaks is resumed. */
  close(): void;
}

export interface StreamReaderOptions {
  readonly log: EventLog;
  readonly meta: StreamMeta;
  readonly channel: Channel;
  /** The number of the last event that the reader has. */
  readonly after: number;
  /** A client that reads nothing for this long loses its connection, but not the stream. */
  readonly stallMs: number;
  /** The connection ends after this time; the client reconnects for the rest. */
  readonly holdMs?: number | undefined;
  readonly onClose: () => void;
}

const READ_CHARS = 64 * 1024;

export interface AppendedEvent {
  /** The place of the event before it. */
  readonly after: number;
  readonly seq: number;
  readonly data: string;
}

export class StreamReader {
  readonly meta: StreamMeta;
  readonly #log: EventLog;
  readonly #channel: Channel;
  readonly #stallMs: number;
  readonly #onClose: () => void;
  #sent: number;
  /** The newest events: a reader that has all events before them need not read them back. */
  #appended: AppendedEvent[] = [];
  #isOpen = true;
  #stalling: number | null = null;
  readonly #holding: number | null = null;
  #waiting: (() => void)[] = [];

  constructor({ log, meta, channel, after, stallMs, holdMs, onClose }: StreamReaderOptions) {
    this.#log = log;
    this.meta = meta;
    this.#channel = channel;
    this.#sent = after;
    this.#stallMs = stallMs;
    this.#onClose = onClose;
    if (holdMs !== undefined) this.#holding = setTimeout(() => this.closeForPolling(), holdMs);
  }

  get openedAt(): number {
    return this.#channel.openedAt;
  }

  /** Sends the reader's place, so that the stream can be resumed before any event. */
  prime(): void {
    this.#channel.send(eventFrame(formatEventId(this.meta.id, this.#sent), ""));
    this.#channel.sentUpTo(this.#sent);
  }

  /** Sends a frame that is for the Worker and not for the client. */
  sendControl(frame: string): void {
    if (this.#isOpen) this.#channel.send(frame);
  }

  /** Takes an event that was appended to the log, for the next `pump`. */
  append(event: AppendedEvent): void {
    if (this.#isOpen) this.#appended.push(event);
  }

  /** Sends as many written events as the channel has room for; called when there may be more of either. */
  pump(): void {
    if (!this.#isOpen) return;
    if (this.#sent < this.meta.first) {
      // Events that it has not sent are gone; the client's next resume is refused for that.
      this.close();
      return;
    }
    const before = this.#sent;
    const written = this.#log.lastWritten(this.meta);
    if (written === this.meta.last) {
      for (const event of this.#appended.splice(0)) {
        if (event.after === this.#sent && this.#channel.hasRoom) this.#send(event);
      }
    }
    while (this.#sent < written && this.#channel.hasRoom) {
      const events = this.#log.read(this.meta, this.#sent, READ_CHARS);
      for (const event of events) if (this.#channel.hasRoom) this.#send(event);
      // Events past their retention are deleted and cannot be sent.
      if (events.length === 0) this.#sent = written;
    }
    if (this.#sent !== before) {
      this.#channel.sentUpTo(this.#sent);
      clearTimeout(this.#stalling);
      this.#stalling = null;
    }
    if (this.#sent < written) {
      this.#stalling ??= setTimeout(() => this.close(), this.#stallMs);
      return;
    }
    this.#release();
    if (this.meta.isEnded) this.close();
  }

  /** Resolves when every written event was sent, or the reader is closed. */
  async caughtUp(): Promise<void> {
    while (this.#isOpen && this.#sent < this.#log.lastWritten(this.meta)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Ends this connection, on which the gathered events go out first; the client reconnects for the rest. */
  closeForPolling(): void {
    this.#log.flush();
    this.pump();
    this.close();
  }

  /** Ends this connection; the stream stays open. */
  close(): void {
    if (this.#isOpen) this.#channel.close();
    this.abandon();
  }

  /** The client has gone by itself. */
  abandon(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#stalling);
    clearTimeout(this.#holding);
    this.#release();
    this.#onClose();
  }

  #send({ seq, data }: { readonly seq: number; readonly data: string }): void {
    this.#channel.send(eventFrame(formatEventId(this.meta.id, seq), data));
    this.#sent = seq;
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
