/**
 * One reader of one stream: takes what is in the log to a channel, no faster than the channel
 * has room. What the reader is behind with waits in the log, not in memory.
 */

import { formatEventId } from "./log/event-id.ts";
import type { EventLog } from "./log/event-log.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import { eventFrame } from "./frame.ts";

/** The way to whoever holds the client's stream. */
export interface Channel {
  /** When the client opened it: no two channels of a session have the same. The highest is the newest. */
  readonly openedAt: number;
  /** False when the reader is behind by more than a window. */
  readonly hasRoom: boolean;
  send(frame: string): void;
  /** Notes how far the stream has been sent, for a channel that outlives its holder's memory. */
  sentUpTo(seq: number): void;
  /** Ends this connection on purpose; one that breaks otherwise is taken up again. */
  close(): void;
}

export interface FeedOptions {
  readonly log: EventLog;
  readonly head: StreamMeta;
  readonly channel: Channel;
  /** The last event that the reader has. */
  readonly after: number;
  /** A reader that takes nothing for this long loses its connection, but not the stream. */
  readonly stallMs: number;
  /** The connection ends after this time; its client comes back for the rest. */
  readonly holdMs?: number | undefined;
  readonly onClose: () => void;
}

const READ_CHARS = 64 * 1024;

export class StreamReader {
  readonly head: StreamMeta;
  readonly #log: EventLog;
  readonly #channel: Channel;
  readonly #stallMs: number;
  readonly #onClose: () => void;
  #sent: number;
  #isOpen = true;
  #stalling: number | null = null;
  readonly #holding: number | null = null;
  #waiting: (() => void)[] = [];

  constructor({ log, head, channel, after, stallMs, holdMs, onClose }: FeedOptions) {
    this.#log = log;
    this.head = head;
    this.#channel = channel;
    this.#sent = after;
    this.#stallMs = stallMs;
    this.#onClose = onClose;
    if (holdMs !== undefined) this.#holding = setTimeout(() => this.close(), holdMs);
  }

  get openedAt(): number {
    return this.#channel.openedAt;
  }

  /** Sends the place that the reader is at, so that it can be found again before any event. */
  prime(): void {
    this.#channel.send(eventFrame(formatEventId(this.head.id, this.#sent), ""));
    this.#channel.sentUpTo(this.#sent);
  }

  /** Says something that is not for the client. */
  tell(frame: string): void {
    if (this.#isOpen) this.#channel.send(frame);
  }

  /**
   * Sends what there is and room for; called whenever there may be more of either.
   *
   * @param newest an event that was appended just now: a reader that has all before it need not
   *   wait for it to be read back.
   */
  pump(newest?: { readonly after: number; readonly seq: number; readonly data: string }): void {
    if (!this.#isOpen) return;
    if (this.#sent < this.head.first) {
      // What it has not seen is gone: a resume is told so.
      this.close();
      return;
    }
    const before = this.#sent;
    if (newest?.after === this.#sent && this.#channel.hasRoom) this.#send(newest);
    while (this.#sent < this.head.last && this.#channel.hasRoom) {
      const events = this.#log.read(this.head, this.#sent, READ_CHARS);
      for (const event of events) if (this.#channel.hasRoom) this.#send(event);
      // What is past its retention is no longer there to be sent.
      if (events.length === 0) this.#sent = this.head.last;
    }
    if (this.#sent !== before) {
      this.#channel.sentUpTo(this.#sent);
      clearTimeout(this.#stalling);
      this.#stalling = null;
    }
    if (this.#sent < this.head.last) {
      this.#stalling ??= setTimeout(() => this.close(), this.#stallMs);
      return;
    }
    this.#release();
    if (this.head.isEnded) this.close();
  }

  /** Resolves when the reader has been sent everything, or is no more. */
  async caughtUp(): Promise<void> {
    while (this.#isOpen && this.#sent < this.head.last) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Ends this connection; the stream goes on. */
  close(): void {
    if (this.#isOpen) this.#channel.close();
    this.abandon();
  }

  /** The reader has gone by itself. */
  abandon(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#stalling);
    clearTimeout(this.#holding);
    this.#release();
    this.#onClose();
  }

  #send({ seq, data }: { readonly seq: number; readonly data: string }): void {
    this.#channel.send(eventFrame(formatEventId(this.head.id, seq), data));
    this.#sent = seq;
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
