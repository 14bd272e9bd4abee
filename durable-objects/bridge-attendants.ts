/**
 * The clients that listen at a bridge, as the platform knows them: WebSockets, which outlive the memory
 * of their object. What each listens for is kept with its socket where it is short; else the client is
 * told to come back, and a call waits for it.
 */

import { Attendants } from "../src/relay/modern-to-legacy/attendants.ts";
import type { Attending } from "./bridges-stub.ts";

const COME_BACK_CODE = 1012;
/** Who has not come back by then has hung up. */
const COME_BACK_MS = 1000;
/** What the platform keeps with a socket. */
const MAX_ATTACHED_BYTES = 2048;
/** Of its form there, beside the text. */
const FORM_BYTES = 256;
const TOO_LONG = "too long";

/** `null` where the client has not said yet what it listens for. */
type Attached = readonly string[] | typeof TOO_LONG | null;

export class BridgeAttendants {
  readonly #ctx: DurableObjectState;
  readonly #attendants = new Attendants<WebSocket>();
  /** How many were told to come back, and have not. */
  #missing = 0;
  readonly #missedUntil = Date.now() + COME_BACK_MS;
  readonly #returned = Promise.withResolvers<void>();

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    for (const socket of ctx.getWebSockets()) {
      const attached = socket.deserializeAttachment() as Attached;
      if (attached === TOO_LONG) this.#sendAway(socket);
      else if (attached !== null) this.#attendants.enter(socket, attached);
    }
  }

  /** What any of them listens for. */
  get uris(): ReadonlySet<string> {
    return this.#attendants.uris;
  }

  /** Resolves when all are back that are to be waited for. */
  get returning(): Promise<void> | undefined {
    const isMissed = this.#missing > 0 && Date.now() < this.#missedUntil;
    return isMissed ? this.#returned.promise : undefined;
  }

  /** @returns the client's end of a way, on which it says first what it listens for. */
  open(): WebSocket {
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server);
    return client;
  }

  enter(socket: WebSocket, { uris }: Attending): void {
    const bytes = new TextEncoder().encode(JSON.stringify(uris)).length;
    const isShort = bytes + FORM_BYTES <= MAX_ATTACHED_BYTES;
    socket.serializeAttachment((isShort ? uris : TOO_LONG) satisfies Attached);
    this.#attendants.enter(socket, uris);
    this.#missing -= 1;
    if (this.#missing === 0) this.#returned.resolve();
  }

  /** @returns whether it had said what it listens for. */
  leave(socket: WebSocket): boolean {
    return this.#attendants.leave(socket);
  }

  tell(uri: string): void {
    for (const socket of this.#attendants.waysTo(uri)) {
      try {
        socket.send(uri);
      } catch {
        // It is closing, and the object hears of that.
      }
    }
  }

  #sendAway(socket: WebSocket): void {
    try {
      socket.close(COME_BACK_CODE, "come back");
      this.#missing += 1;
    } catch {
      // It was told so before.
    }
  }
}
