/** The messages of a server, from the bytes of the connection (RFC 6455 sections 5.4, 5.5 and 7.1). Pure. */

import { CloseCode, type Frame, FrameReader, isControl, Opcode, WebSocketError } from "./frame.ts";

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
    if (opcode === Opcode.binary) {
      throw new WebSocketError(CloseCode.unsupportedData, "a message is binary");
    }
    const isFirst = opcode === Opcode.text;
    if (isFirst === (this.#parts !== undefined)) {
      throw new WebSocketError(CloseCode.protocolError, "the parts of two messages are mixed");
    }
    const parts = (this.#parts ??= []);
    if (payload.length > 0) parts.push(payload);
    this.#bytes = (isFirst ? 0 : this.#bytes) + payload.length;
    if (this.#bytes > this.#maxBytes) {
      throw new WebSocketError(CloseCode.tooBig, `a message has more than ${this.#maxBytes} bytes`);
    }
    if (!isFinal) return undefined;
    this.#parts = undefined;
    return { kind: "text", text: textOf(parts) };
  }
}

function readControl({ opcode, payload }: Frame): Incoming | undefined {
  if (opcode === Opcode.ping) return { kind: "ping", payload };
  if (opcode === Opcode.pong) return undefined;
  const [high, low] = payload;
  if (high === undefined) return { kind: "close", code: NO_CODE, reason: "" };
  if (low === undefined) throw new WebSocketError(CloseCode.protocolError, "a close code is cut");
  return { kind: "close", code: high * 256 + low, reason: textOf([payload.subarray(2)]) };
}

/** A character may be cut by the border of two parts. */
function textOf(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    const texts = parts.map((part) => decoder.decode(part, { stream: true }));
    return texts.join("") + decoder.decode();
  } catch {
    throw new WebSocketError(CloseCode.invalidPayload, "a text is not UTF-8");
  }
}
