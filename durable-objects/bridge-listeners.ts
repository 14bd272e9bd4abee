/**
 * The clients that listen at a bridge, as WebSockets, which outlive the memory of their object. A short
 * list of URIs is kept with its socket; a client with a longer list is asked to reconnect after a
 * restart, and a call waits for it.
 */

import { RECONNECT_CODE } from "../src/lib/socket-lines.ts";
import { ResourceListeners } from "../src/relay/modern-to-legacy/resource-listeners.ts";
import type { ResourceListenRequest } from "../src/relay/modern-to-legacy/bridge.ts";

/** A client that has not reconnected by then has hung up. */
const RECONNECT_MS = 1000;
/** The platform's limit for a socket's attachment. */
const MAX_ATTACHED_BYTES = 2048;
/** Room for the encoding of the attachment, beside the text. */
const FORM_BYTES = 256;
const TOO_LONG = "too long";

/** `null` where the client has not sent its URIs yet. */
type Attached = readonly string[] | typeof TOO_LONG | null;

export class BridgeListeners {
  readonly #ctx: DurableObjectState;
  readonly #listeners = new ResourceListeners<WebSocket>();
  /** The number of clients that have to reconnect and have not. */
  #missing = 0;
  readonly #missedUntil = Date.now() + RECONNECT_MS;
  readonly #returned = Promise.withResolvers<void>();

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    for (const socket of ctx.getWebSockets()) {
      const attached = socket.deserializeAttachment() as Attached;
      if (attached === TOO_LONG) this.#requestReconnect(socket);
      else if (attached !== null) this.#listeners.add(socket, attached);
    }
  }

  /** The URIs that any client listens for. */
  get uris(): ReadonlySet<string> {
    return this.#listeners.uris;
  }

  /** Resolves when every awaited client has reconnected; `undefined` when there is none. */
  get returning(): Promise<void> | undefined {
    const isMissed = this.#missing > 0 && Date.now() < this.#missedUntil;
    return isMissed ? this.#returned.promise : undefined;
  }

  /** @returns the client's end of a socket; its first message names the URIs. */
  open(): WebSocket {
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server);
    return client;
  }

  add(socket: WebSocket, { uris }: ResourceListenRequest): void {
    const bytes = new TextEncoder().encode(JSON.stringify(uris)).length;
    const isShort = bytes + FORM_BYTES <= MAX_ATTACHED_BYTES;
    socket.serializeAttachment((isShort ? uris : TOO_LONG) satisfies Attached);
    this.#listeners.add(socket, uris);
    this.#missing -= 1;
    if (this.#missing === 0) this.#returned.resolve();
  }

  /** @returns `true` when the client had sent its URIs. */
  remove(socket: WebSocket): boolean {
    return this.#listeners.remove(socket);
  }

  notify(uri: string): void {
    for (const socket of this.#listeners.listeningFor(uri)) {
      try {
        socket.send(uri);
      } catch {
        // The socket is closing, and the platform reports that to the object.
      }
    }
  }

  #requestReconnect(socket: WebSocket): void {
    try {
      socket.close(RECONNECT_CODE, "reconnect");
      this.#missing += 1;
    } catch {
      // The socket was closed before.
    }
  }
}
