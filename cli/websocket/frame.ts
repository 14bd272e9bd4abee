/** Frames of the WebSocket protocol, as bytes (RFC 6455 section 5). Pure. */

/** Opcodes (RFC 6455 section 5.2). Constants of their own, because a bundler writes these as numbers. */
export const CONTINUATION = 0;
export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

/** Why this end closes a connection (RFC 6455 section 7.4.1). */
export const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;
export const UNSUPPORTED_DATA = 1003;
export const INVALID_PAYLOAD = 1007;
export const TOO_BIG = 1009;

/** The other end broke the protocol. */
export class WebSocketError extends Error {
  override readonly name = "WebSocketError";
  readonly code: number;

  constructor(message: string, code = PROTOCOL_ERROR) {
    super(message);
    this.code = code;
  }
}

export interface Frame {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly payload: Uint8Array;
}

const FINAL = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
/** Lengths that stand for a longer field (RFC 6455 section 5.2). */
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;
/** "All control frames MUST have a payload length of 125 bytes or less" (RFC 6455 section 5.5). */
export const MAX_CONTROL_BYTES = 125;

export function isControl(opcode: number): boolean {
  return opcode >= CLOSE;
}

/** @param mask four random bytes: "a client MUST mask all frames that it sends" (RFC 6455 section 5.1). */
export function encodeFrame(opcode: number, payload: Uint8Array, mask: Uint8Array): Uint8Array {
  const { length } = payload;
  const extended = length < IN_TWO_BYTES ? 0 : length < 0x1_0000 ? 2 : 8;
  const frame = new Uint8Array(2 + extended + 4 + length);
  const view = new DataView(frame.buffer);
  frame[0] = FINAL | opcode;
  frame[1] = MASKED | (extended === 0 ? length : extended === 2 ? IN_TWO_BYTES : IN_EIGHT_BYTES);
  if (extended === 2) view.setUint16(2, length);
  if (extended === 8) view.setBigUint64(2, BigInt(length));
  const start = 2 + extended;
  frame.set(mask, start);
  for (let index = 0; index < length; index++) {
    frame[start + 4 + index] = (payload[index] ?? 0) ^ (mask[index % 4] ?? 0);
  }
  return frame;
}

/** Takes the bytes of a server, and returns the frames that they complete. */
export class FrameReader {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #held = 0;
  /** Bytes without which there is nothing new to read, so that a large frame is not joined with every piece. */
  #wanted = 2;

  /** @param maxBytes of one payload. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws WebSocketError */
  push(bytes: Uint8Array): readonly Frame[] {
    this.#pieces.push(bytes);
    this.#held += bytes.length;
    const frames: Frame[] = [];
    while (this.#held >= this.#wanted) {
      const held = joined(this.#pieces);
      const { start, end, ...head } = readHead(held, this.#maxBytes);
      const isWhole = held.length >= end;
      if (isWhole) frames.push({ ...head, payload: held.subarray(start, end) });
      const rest = isWhole ? held.subarray(end) : held;
      this.#pieces = [rest];
      this.#held = rest.length;
      this.#wanted = isWhole ? 2 : end;
    }
    return frames;
  }
}

/** One piece as it is, and several as a copy. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    all.set(piece, offset);
    offset += piece.length;
  }
  return all;
}

interface Head {
  readonly isFinal: boolean;
  readonly opcode: number;
  /** Where the payload is; where it ends is a lower bound until the whole head has come. */
  readonly start: number;
  readonly end: number;
}

function readHead(bytes: Uint8Array, maxBytes: number): Head {
  const [first = 0, second = 0] = bytes;
  const opcode = first & 0x0f;
  const isFinal = (first & FINAL) !== 0;
  // No extension is offered, so that none may use these bits (RFC 6455 section 5.2).
  if ((first & RESERVED) !== 0) throw new WebSocketError("a reserved bit is set");
  // "A server MUST NOT mask any frames that it sends to the client" (RFC 6455 section 5.1).
  if ((second & MASKED) !== 0) throw new WebSocketError("a frame of the server is masked");
  // Three opcodes are of data, and three of control.
  if ((opcode & 0x07) > BINARY) throw new WebSocketError(`opcode ${opcode} is unknown`);
  const short = second & 0x7f;
  if (isControl(opcode) && (short > MAX_CONTROL_BYTES || !isFinal)) {
    throw new WebSocketError("a control frame is too long, or in parts");
  }
  const start = short < IN_TWO_BYTES ? 2 : short === IN_TWO_BYTES ? 4 : 10;
  if (bytes.length < start) return { isFinal, opcode, start, end: start };
  const view = new DataView(bytes.buffer, bytes.byteOffset, start);
  const length =
    start === 2 ? short : start === 4 ? view.getUint16(2) : Number(view.getBigUint64(2));
  if (length > maxBytes) throw new WebSocketError(`a frame has ${length} bytes`, TOO_BIG);
  return { isFinal, opcode, start, end: start + length };
}
