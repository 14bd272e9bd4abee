/**
 * The channel to a client's stream over a WebSocket that outlives its object's memory: while no message
 * is sent, the object sleeps. The reader acknowledges the frames that the client took, so that the object
 * is never ahead by more than a window.
 */

import type { StreamId } from "../src/sessions/log/event-id.ts";
import { count } from "../src/observability/costs.ts";
import type { Channel } from "../src/sessions/stream-reader.ts";
import { OVER_CODE } from "../src/sessions/frame.ts";

/** The data that the platform keeps with the socket while the object sleeps. */
export interface Attachment {
  readonly stream: StreamId;
  /** When the client opened the stream. The newest carries the messages that belong to no request. */
  readonly openedAt: number;
  /** The number of the last event that was sent. */
  readonly sent: number;
  /** Characters that the reader has not acknowledged yet. */
  readonly ahead: number;
}

export class SocketChannel implements Channel {
  readonly openedAt: number;
  readonly #socket: WebSocket;
  readonly #windowChars: number;
  readonly #stream: StreamId;
  #sent: number;
  #ahead: number;

  constructor(socket: WebSocket, windowChars: number, attachment: Attachment) {
    this.#socket = socket;
    this.#windowChars = windowChars;
    this.#stream = attachment.stream;
    this.openedAt = attachment.openedAt;
    this.#sent = attachment.sent;
    this.#ahead = attachment.ahead;
  }

  get hasRoom(): boolean {
    return this.#ahead < this.#windowChars;
  }

  send(frame: string): void {
    count("webSocketMessagesOut");
    this.#ahead += frame.length;
    this.#socket.send(frame);
  }

  sentUpTo(seq: number): void {
    this.#sent = seq;
    this.#remember();
  }

  acknowledged(chars: number): void {
    this.#ahead = Math.max(0, this.#ahead - chars);
    this.#remember();
  }

  close(): void {
    this.#socket.close(OVER_CODE, "over");
  }

  #remember(): void {
    const attachment: Attachment = {
      stream: this.#stream,
      openedAt: this.openedAt,
      sent: this.#sent,
      ahead: this.#ahead,
    };
    this.#socket.serializeAttachment(attachment);
  }
}

/** @returns `undefined` for a socket without an attachment. */
export function attachmentOf(socket: WebSocket): Attachment | undefined {
  return (socket.deserializeAttachment() as Attachment | null) ?? undefined;
}
