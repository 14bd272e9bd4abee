/** The messages of a server, from the bytes of the connection (RFC 6455 sections 5.4, 5.5 and 7.1). Pure. */

import {
  BINARY,
  type Frame,
  FrameReader,
  INVALID_PAYLOAD,
  isControl,
  joined,
  PING,
  PONG,
  TEXT,
  TOO_BIG,
  UNSUPPORTED_DATA,
  WebSocketError,
} from "./frame.ts";

export type Incoming =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "ping"; readonly payload: Uint8Array }
  | { readonly kind: "close"; readonly code: number; readonly reason: string };

/** The close frame had no code (RFC 6455 section 7.1.5). */
export const NO_CODE = 1005;

export class MessageReader {
  readonly #frames: FrameReader;
  readonly #maxBytes: number;
  /** The parts of a message that has begun. */
  #parts: Uint8Array[] | undefined;
  #bytes = 0;

  /** @param maxBytes of one message. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#frames = new FrameReader(maxBytes);
  }

  /** @throws WebSocketError */
  push(bytes: Uint8Array): readonly Incoming[] {
    return this.#frames.push(bytes).flatMap((frame) => {
      const message = isControl(frame.opcode) ? readControl(frame) : this.#collect(frame);
      return message === undefined ? [] : [message];
    });
  }

  #collect({ opcode, payload, isFinal }: Frame): Incoming | undefined {
    if (opcode === BINARY) throw new WebSocketError("a message is binary", UNSUPPORTED_DATA);
    const isFirst = opcode === TEXT;
    if (isFirst === (this.#parts !== undefined)) {
      throw new WebSocketError("the parts of two messages are mixed");
    }
    const parts = (this.#parts ??= []);
    if (payload.length > 0) parts.push(payload);
    this.#bytes = (isFirst ? 0 : this.#bytes) + payload.length;
    if (this.#bytes > this.#maxBytes) {
      throw new WebSocketError(`a message has more than ${this.#maxBytes} bytes`, TOO_BIG);
    }
    if (!isFinal) return undefined;
    this.#parts = undefined;
    return { kind: "text", text: textOf(joined(parts)) };
  }
}

function readControl({ opcode, payload }: Frame): Incoming | undefined {
  if (opcode === PING) return { kind: "ping", payload };
  if (opcode === PONG) return undefined;
  const [high, low] = payload;
  if (high === undefined) return { kind: "close", code: NO_CODE, reason: "" };
  if (low === undefined) throw new WebSocketError("a close code is cut");
  return { kind: "close", code: high * 256 + low, reason: textOf(payload.subarray(2)) };
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new WebSocketError("a text is not UTF-8", INVALID_PAYLOAD);
  }
}
