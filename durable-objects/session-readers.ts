/**
 * Who reads the streams of a session, as the platform knows them: WebSockets, which outlive the
 * memory of their object, and the answers of calls, which do not.
 */

import type { EventLog } from "../src/sessions/log/event-log.ts";
import { count } from "../src/observability/costs.ts";
import type { OpenChannel } from "../src/sessions/core.ts";
import type { Channel, StreamReader } from "../src/sessions/stream-reader.ts";
import type { Session } from "../src/sessions/session.ts";
import type { StreamPosition } from "../src/sessions/streams.ts";
import { LineChannel } from "./line-channel.ts";
import { attachmentOf, SocketChannel } from "./socket-channel.ts";

/** The reader is to come back: this life of the object does not know the session. */
const COME_BACK_CODE = 1012;

/** A channel, and the feed that it tells of its reader: no other feed of the stream hears of that. */
interface Reader<Way extends Channel> {
  readonly channel: Way;
  readonly feed: StreamReader;
}

export class SessionReaders {
  readonly #ctx: DurableObjectState;
  readonly #windowBytes: number;
  readonly #sockets = new Map<WebSocket, Reader<SocketChannel>>();
  readonly #lines = new Map<string, Reader<LineChannel>>();
  #lastOpenedAt = 0;

  constructor(ctx: DurableObjectState, windowBytes: number) {
    this.#ctx = ctx;
    this.#windowBytes = windowBytes;
  }

  /**
   * @param returning when the client opened a stream whose reader was lost, and is back.
   * @returns the reader's end of a WebSocket that brings the frames of a stream, and when the client
   *   opened it.
   */
  open(
    session: Session,
    place: StreamPosition,
    returning?: number,
  ): { socket: WebSocket; openedAt: number } {
    const openedAt = this.#openedAt(returning);
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server);
    const channel = new SocketChannel(server, this.#windowBytes, {
      ...{ stream: place.head.id, openedAt, sent: place.after, ahead: 0 },
    });
    this.#sockets.set(server, { channel, feed: session.attach(place, channel) });
    return { socket: client, openedAt };
  }

  /** Finds the readers again that were there before this life of the object. */
  find(session: Session | undefined, log: EventLog): void {
    const found = this.#ctx
      .getWebSockets()
      // One that was closed is still there until its reader has said so too.
      .filter(({ readyState }) => readyState === WebSocket.READY_STATE_OPEN)
      .map((socket) => ({ socket, was: attachmentOf(socket) }))
      .toSorted((a, b) => (a.was?.openedAt ?? 0) - (b.was?.openedAt ?? 0));
    for (const { socket, was } of found) {
      if (session === undefined || was === undefined) {
        socket.close(COME_BACK_CODE, "come back");
        continue;
      }
      const channel = new SocketChannel(socket, this.#windowBytes, was);
      const head = log.adopt(was.stream, was.sent);
      const feed = session.reattach({ head, after: was.sent }, channel);
      this.#sockets.set(socket, { channel, feed });
      this.#openedAt(was.openedAt);
    }
  }

  /** A reader acknowledged what it took. */
  acknowledged(socket: WebSocket, chars: number): void {
    count("webSocketMessagesIn");
    const reader = this.#sockets.get(socket);
    reader?.channel.acknowledged(chars);
    reader?.feed.pump();
  }

  closed(socket: WebSocket): void {
    this.#sockets.get(socket)?.feed.abandon();
    this.#sockets.delete(socket);
  }

  /** Makes the way to a stream that answers a call. */
  readonly openLine: OpenChannel = (read) => {
    for (const [reader, { channel }] of this.#lines) {
      if (!channel.isOpen) this.#lines.delete(reader);
    }
    const reader = crypto.randomUUID();
    const openedAt = this.#openedAt();
    const channel = new LineChannel({
      ...{ openedAt, windowBytes: this.#windowBytes },
      synced: () => this.#ctx.storage.sync(),
      onRoom: () => this.#lines.get(reader)?.feed.pump(),
      onGone: () => this.#lines.get(reader)?.feed.abandon(),
    });
    this.#lines.set(reader, { channel, feed: read(channel) });
    return { body: channel.body, reader, openedAt };
  };

  /** The reader of such a stream has gone. */
  detach(reader: string): void {
    this.#lines.get(reader)?.channel.abandon();
  }

  /** The time, and never one that another reader has: the platform's clock stands still within a turn. */
  #openedAt(returning = Math.max(Date.now(), this.#lastOpenedAt + 1)): number {
    this.#lastOpenedAt = Math.max(this.#lastOpenedAt, returning);
    return returning;
  }
}
