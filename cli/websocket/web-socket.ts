/** One open WebSocket, at the client's end (RFC 6455). The socket below it is Node's. */

import type { Duplex } from "node:stream";

import {
  CLOSE,
  encodeFrame,
  MAX_CONTROL_BYTES,
  NORMAL,
  PONG,
  TEXT,
  WebSocketError,
} from "./frame.ts";
import { type Incoming, MessageReader, NO_CODE } from "./message-reader.ts";

export interface Closed {
  /** Of the close frame that came; 1006 where the connection ended without one (RFC 6455 section 7.1.5). */
  readonly code: number;
  readonly reason: string;
}

const ABNORMAL = 1006;
/** The other end has this long to answer a close frame. */
const CLOSE_MS = 2000;

export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #messages: MessageReader;
  readonly #onText: (text: string) => void;
  /** Resolves when nothing comes any more. */
  readonly closed: Promise<Closed>;
  #end: Closed = { code: ABNORMAL, reason: "the connection broke" };
  /** No frame follows a close frame (RFC 6455 section 5.5.1). */
  #hasSaidClose = false;

  /**
   * @param head what came after the handshake already.
   * @param maxBytes of a message of the other end.
   * @param onText is called with each message, once this has returned.
   */
  constructor(socket: Duplex, head: Uint8Array, maxBytes: number, onText: (text: string) => void) {
    this.#socket = socket;
    this.#messages = new MessageReader(maxBytes);
    this.#onText = onText;
    socket.on("data", (bytes: Uint8Array) => this.#take(bytes));
    // "close" follows.
    socket.on("error", () => undefined);
    socket.once("end", () => socket.end());
    this.closed = new Promise((resolve) => socket.once("close", () => resolve(this.#end)));
    if (head.length > 0) socket.unshift(head);
  }

  /** Bytes that the network has not taken yet. */
  get waiting(): number {
    return this.#socket.writableLength;
  }

  /** Called whenever the network has taken all that waited. */
  onDrain(callback: () => void): void {
    this.#socket.on("drain", callback);
  }

  /** What is sent after the end is lost. */
  send(text: string): void {
    this.#write(TEXT, new TextEncoder().encode(text));
  }

  close(code: number = NORMAL, reason = ""): void {
    if (this.#hasSaidClose) return;
    const text = new TextEncoder().encode(reason).subarray(0, MAX_CONTROL_BYTES - 2);
    this.#write(CLOSE, Uint8Array.of(code >> 8, code & 0xff, ...text));
    this.#hasSaidClose = true;
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_MS);
    this.#socket.once("close", () => clearTimeout(timer));
  }

  /** Ends it without a word: the other end seems to be gone. */
  abandon(): void {
    this.#socket.destroy();
  }

  #take(bytes: Uint8Array): void {
    try {
      for (const message of this.#messages.push(bytes)) this.#handle(message);
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      this.#end = { code: ABNORMAL, reason: error.message };
      this.close(error.code);
      this.#socket.removeAllListeners("data").resume().end();
    }
  }

  #handle(message: Incoming): void {
    switch (message.kind) {
      case "text":
        this.#onText(message.text);
        return;
      case "ping":
        this.#write(PONG, message.payload);
        return;
      case "close":
        this.#end = { code: message.code, reason: message.reason };
        // "An endpoint typically echos the status code it received" (RFC 6455 section 5.5.1).
        this.close(message.code === NO_CODE ? NORMAL : message.code);
        this.#socket.end();
    }
  }

  #write(opcode: number, payload: Uint8Array): void {
    if (this.#hasSaidClose || this.#socket.destroyed) return;
    this.#socket.write(encodeFrame(opcode, payload, crypto.getRandomValues(new Uint8Array(4))));
  }
}
