import * as fc from "fast-check";
import { describe, test } from "vitest";

import {
  BINARY,
  CLOSE,
  CONTINUATION,
  encodeFrame,
  PING,
  TEXT,
  WebSocketError,
} from "../../../../cli/websocket/frame.ts";
import { type Incoming, MessageReader } from "../../../../cli/websocket/message-reader.ts";

const MAX_BYTES = 100_000;
const encoder = new TextEncoder();

interface FrameOptions {
  readonly isFinal?: boolean;
  readonly reserved?: number;
}

/** A frame as a server sends it: not masked. */
function frameOf(opcode: number, payload: Uint8Array, options: FrameOptions = {}): Uint8Array {
  const { isFinal = true, reserved = 0 } = options;
  const { length } = payload;
  const first = (isFinal ? 0x80 : 0) | reserved | opcode;
  const big = [56, 48, 40, 32, 24, 16, 8, 0].map((bits) => Math.floor(length / 2 ** bits) % 256);
  const size =
    length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : [127, ...big];
  return Uint8Array.from([first, ...size, ...payload]);
}

function text(value: string): Uint8Array {
  return frameOf(TEXT, encoder.encode(value));
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function codeOf(bytes: Uint8Array, maxBytes = MAX_BYTES): number | undefined {
  try {
    new MessageReader(maxBytes).push(bytes);
    return undefined;
  } catch (error) {
    return error instanceof WebSocketError ? error.code : 0;
  }
}

function textsOf(messages: readonly Incoming[]): readonly string[] {
  return messages.flatMap((message) => (message.kind === "text" ? [message.text] : []));
}

describe("the messages of a server", () => {
  test("are the same however the bytes arrive and the messages are divided", ({ expect }) => {
    const pieces = fc.array(fc.string({ unit: "binary", maxLength: 300 }), { maxLength: 8 });
    const cuts = fc.array(fc.nat(200), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(pieces, cuts, (values, sizes) => {
        const frames = values.flatMap((value, index) => {
          const bytes = encoder.encode(value);
          const cut = Math.min(sizes[index % sizes.length] ?? 0, bytes.length);
          return [
            frameOf(TEXT, bytes.subarray(0, cut), { isFinal: false }),
            // Control frames may come between the parts of a message.
            frameOf(PING, Uint8Array.of(index)),
            frameOf(CONTINUATION, bytes.subarray(cut)),
          ];
        });
        const all = joined(frames);
        const reader = new MessageReader(MAX_BYTES);
        const found: Incoming[] = [];
        for (let start = 0, turn = 0; start < all.length; turn++) {
          const size = (sizes[turn % sizes.length] ?? 0) + 1;
          found.push(...reader.push(all.subarray(start, start + size)));
          start += size;
        }
        const written = values.map((value) => new TextDecoder().decode(encoder.encode(value)));
        expect(textsOf(found)).toEqual(written);
        expect(found.filter(({ kind }) => kind === "ping")).toHaveLength(values.length);
      }),
    );
  });

  test.for([0, 125, 126, 65_535, 65_536, MAX_BYTES])("may have %i bytes", (length, { expect }) => {
    const reader = new MessageReader(MAX_BYTES);
    expect(textsOf(reader.push(text("x".repeat(length))))).toEqual(["x".repeat(length)]);
  });

  test("end with a close frame, with or without a reason", ({ expect }) => {
    const reader = new MessageReader(MAX_BYTES);
    const why = Uint8Array.from([0x0f, 0xa1, ...encoder.encode("replaced")]);
    expect(reader.push(frameOf(CLOSE, why))).toEqual([
      { kind: "close", code: 4001, reason: "replaced" },
    ]);
    expect(reader.push(frameOf(CLOSE, new Uint8Array()))).toEqual([
      { kind: "close", code: 1005, reason: "" },
    ]);
  });

  test.for([
    ["one byte too long", text("x".repeat(MAX_BYTES + 1)), 1009],
    [
      "too long in two parts",
      joined([
        frameOf(TEXT, new Uint8Array(MAX_BYTES), { isFinal: false }),
        frameOf(CONTINUATION, new Uint8Array(1)),
      ]),
      1009,
    ],
    // Judged by its head: nothing of it is kept first.
    ["of 2^62 bytes", Uint8Array.of(0x81, 127, 64, 0, 0, 0, 0, 0, 0, 0), 1009],
    // Its mask would be two messages.
    ["masked", encodeFrame(TEXT, new Uint8Array(), Uint8Array.of(129, 0, 129, 0)), 1002],
    ["compressed", frameOf(TEXT, encoder.encode("x"), { reserved: 0x40 }), 1002],
    ["of an unknown kind", frameOf(3, new Uint8Array()), 1002],
    ["a part of nothing", frameOf(CONTINUATION, new Uint8Array()), 1002],
    [
      "begun within another one",
      joined([frameOf(TEXT, new Uint8Array(), { isFinal: false }), text("x")]),
      1002,
    ],
    ["a ping in parts", frameOf(PING, new Uint8Array(), { isFinal: false }), 1002],
    ["a ping of 126 bytes", frameOf(PING, new Uint8Array(126)), 1002],
    ["a close frame of one byte", frameOf(CLOSE, new Uint8Array(1)), 1002],
    ["binary", frameOf(BINARY, new Uint8Array()), 1003],
    ["not UTF-8", frameOf(TEXT, Uint8Array.of(0xc3, 0x28)), 1007],
    ["half a character", frameOf(TEXT, Uint8Array.of(0xe2, 0x82)), 1007],
  ] as const)("are refused: %s", ([, bytes, code], { expect }) => {
    expect(codeOf(bytes)).toBe(code);
  });
});

test("what the command sends is masked, and has its length in the field for it", ({ expect }) => {
  const lengths = fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536, 70_001);
  const masks = fc.uint8Array({ minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(lengths, masks, (length, mask) => {
      const payload = Uint8Array.from({ length }, (_, index) => index % 251);
      const frame = encodeFrame(TEXT, payload, mask);
      expect(frame[1] ?? 0).toBeGreaterThanOrEqual(0x80);
      const body = frame.length - length;
      expect(frame.subarray(body - 4, body)).toEqual(mask);
      const open = frame.subarray(body).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
      expect(open).toEqual(payload);
      // The same without the mask is what a server would send.
      const head = Uint8Array.from(frame.subarray(0, body - 4));
      head[1] = (head[1] ?? 0) & 0x7f;
      expect(head).toEqual(frameOf(TEXT, payload).subarray(0, head.length));
    }),
    { numRuns: 40 },
  );
});
