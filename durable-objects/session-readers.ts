/**
 * Who reads the streams of a session, as the platform knows them: WebSockets, which outlive the
 * memory of their object, and the answers of calls, which do not.
 */

import type { EventLog } from "../src/event-log/event-log.ts";
import { count } from "../src/observability/costs.ts";
import type { OpenChannel } from "../src/sessions/core.ts";
import type { Feed } from "../src/sessions/feed.ts";
import type { Session } from "../src/sessions/session.ts";
import type { Place } from "../src/sessions/streams.ts";
import { LineChannel } from "./line-channel.ts";
import { attachmentOf, SocketChannel } from "./socket-channel.ts";

/** The reader is to come back: this life of the object does not know the session. */
const COME_BACK_CODE = 1012;

interface Reader {
  readonly channel: SocketChannel;
  readonly feed: Feed;
}

export class SessionReaders {
  readonly #ctx: DurableObjectState;
  readonly #windowBytes: number;
  readonly #sockets = new Map<WebSocket, Reader>();
  readonly #lines = new Map<string, LineChannel>();

  constructor(ctx: DurableObjectState, windowBytes: number) {
    this.#ctx = ctx;
    this.#windowBytes = windowBytes;
  }

  /** @returns the reader's end of a WebSocket that brings the frames of a stream. */
  open(session: Session, place: Place): WebSocket {
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server);
    const channel = new SocketChannel(server, this.#windowBytes, {
      ...{ stream: place.head.id, openedAt: Date.now(), sent: place.after, ahead: 0 },
    });
    this.#sockets.set(server, { channel, feed: session.attach(place, channel) });
    return client;
  }

  /** Finds the readers again that were there before this life of the object. */
  find(session: Session | undefined, log: EventLog): void {
    const found = this.#ctx
      .getWebSockets()
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
  readonly openLine: OpenChannel = (events) => {
    for (const [reader, { isOpen }] of this.#lines) if (!isOpen) this.#lines.delete(reader);
    const reader = crypto.randomUUID();
    const channel = new LineChannel({
      ...events,
      windowBytes: this.#windowBytes,
      synced: () => this.#ctx.storage.sync(),
    });
    this.#lines.set(reader, channel);
    return { body: channel.body, reader, channel };
  };

  /** The reader of such a stream has gone. */
  detach(reader: string): void {
    this.#lines.get(reader)?.abandon();
  }
}
