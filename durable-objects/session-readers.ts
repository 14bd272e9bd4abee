/**
 * The connections that read a session's streams: WebSockets, which outlive the memory of their object,
 * and the response bodies of calls, which do not.
 */

import type { EventLog } from "../src/sessions/log/event-log.ts";
import { RECONNECT_CODE } from "../src/lib/socket-lines.ts";
import { count } from "../src/observability/costs.ts";
import type { OpenChannel } from "../src/sessions/core.ts";
import type { Channel, StreamReader } from "../src/sessions/stream-reader.ts";
import type { Session } from "../src/sessions/session.ts";
import type { StreamPosition } from "../src/sessions/streams.ts";
import { LineChannel } from "./line-channel.ts";
import { attachmentOf, SocketChannel } from "./socket-channel.ts";

/** A channel and its stream reader, the only one that gets the channel's events. */
interface Connection<C extends Channel> {
  readonly channel: C;
  readonly reader: StreamReader;
}

interface OpenOptions {
  readonly signal: AbortSignal;
  readonly isResumed: boolean;
  readonly returning: number | undefined;
}

export class SessionReaders {
  readonly #ctx: DurableObjectState;
  readonly #windowBytes: number;
  readonly #sockets = new Map<WebSocket, Connection<SocketChannel>>();
  readonly #lines = new Map<string, Connection<LineChannel>>();
  #lastOpenedAt = 0;

  constructor(ctx: DurableObjectState, windowBytes: number) {
    this.#ctx = ctx;
    this.#windowBytes = windowBytes;
  }

  /**
   * @param signal of the request that asks for the stream.
   * @param isResumed the stream is taken up at an event.
   * @param returning when the client opened the stream, if its lost reader reconnects.
   * @returns the reader's end of a WebSocket that carries the frames of a stream, and the time when the
   *   client opened the stream, in milliseconds since 1970.
   */
  open(
    session: Session,
    place: StreamPosition,
    { signal, isResumed, returning }: OpenOptions,
  ): { socket: WebSocket; openedAt: number } {
    const openedAt = this.#openedAt(returning);
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server);
    const channel = new SocketChannel(server, this.#windowBytes, {
      stream: place.meta.id,
      openedAt,
      sent: place.after,
      ahead: 0,
    });
    const isAgain = isResumed || returning !== undefined;
    this.#sockets.set(server, { channel, reader: session.attach(place, channel, isAgain) });
    // The platform does not tell an object that nobody has taken the other end of its socket.
    signal.addEventListener("abort", () => {
      server.close();
      this.closed(server);
    });
    return { socket: client, openedAt };
  }

  /** Restores the readers that were connected before this life of the object. */
  find(session: Session | undefined, log: EventLog): void {
    const found = this.#ctx
      .getWebSockets()
      // A closed socket is listed until its reader has closed it too.
      .filter(({ readyState }) => readyState === WebSocket.READY_STATE_OPEN)
      .map((socket) => ({ socket, was: attachmentOf(socket) }))
      .toSorted((a, b) => (a.was?.openedAt ?? 0) - (b.was?.openedAt ?? 0));
    for (const { socket, was } of found) {
      if (session === undefined || was === undefined) {
        // This life does not know the session: the Worker asks for it again.
        socket.close(RECONNECT_CODE, "reconnect");
        continue;
      }
      const channel = new SocketChannel(socket, this.#windowBytes, was);
      const meta = log.adopt(was.stream, was.sent);
      const reader = session.reattach({ meta, after: was.sent }, channel);
      this.#sockets.set(socket, { channel, reader });
      this.#openedAt(was.openedAt);
    }
  }

  /** A reader acknowledged what it took. */
  acknowledged(socket: WebSocket, chars: number): void {
    count("webSocketMessagesIn");
    const connection = this.#sockets.get(socket);
    connection?.channel.acknowledged(chars);
    connection?.reader.pump();
  }

  /** @returns `while asleep` where the reader of the newest standalone stream had left before this life began. */
  closed(socket: WebSocket): "while asleep" | undefined {
    const connection = this.#sockets.get(socket);
    connection?.reader.abandon();
    this.#sockets.delete(socket);
    if (connection !== undefined) return undefined;
    const was = attachmentOf(socket);
    const isNewest = was?.stream.kind === "standalone" && was.openedAt >= this.#lastOpenedAt;
    return isNewest ? "while asleep" : undefined;
  }

  /** Makes the channel for a stream that answers a call. */
  readonly openLine: OpenChannel = (read) => {
    for (const [name, { channel }] of this.#lines) {
      if (!channel.isOpen) this.#lines.delete(name);
    }
    const name = crypto.randomUUID();
    const openedAt = this.#openedAt();
    const channel = new LineChannel({
      openedAt,
      windowBytes: this.#windowBytes,
      synced: () => this.#ctx.storage.sync(),
      onRoom: () => this.#lines.get(name)?.reader.pump(),
      onGone: () => this.#lines.get(name)?.reader.abandon(),
    });
    this.#lines.set(name, { channel, reader: read(channel) });
    return { body: channel.body, reader: name, openedAt };
  };

  /** The reader of such a stream has gone. */
  detach(reader: string): void {
    this.#lines.get(reader)?.channel.abandon();
  }

  /** A unique time, since the platform's clock stands still within a turn of the event loop. */
  #openedAt(returning = Math.max(Date.now(), this.#lastOpenedAt + 1)): number {
    this.#lastOpenedAt = Math.max(this.#lastOpenedAt, returning);
    return returning;
  }
}
