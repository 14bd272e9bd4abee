/** Frames out of the lines of an answer, however they are cut. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { type FrameSource, lineSource } from "../../../src/http/frame-source.ts";
import { OVER } from "../../../src/sessions/frame.ts";

interface Reading {
  readonly source: FrameSource;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  /** How often its writer was notified that the reader has left. */
  closings: number;
}

function reading(): Reading {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const result: Reading = {
    source: lineSource(readable, () => {
      result.closings += 1;
    }),
    writer: writable.getWriter(),
    closings: 0,
  };
  return result;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Writes the bytes in pieces of these sizes, over and over. */
async function write({ writer }: Reading, text: string, lengths: readonly number[]): Promise<void> {
  const bytes = encode(text);
  for (let start = 0, n = 0; start < bytes.length; n++) {
    const length = lengths[n % lengths.length] ?? 1;
    await writer.write(bytes.slice(start, start + length));
    start += length;
  }
}

describe("lines become frames", () => {
  test("whole and in order, wherever the bytes are cut", async ({ expect }) => {
    const line = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => JSON.stringify(text));
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), lengths, async (lines, lengths) => {
        const given = reading();
        const written = write(given, lines.map((one) => `${one}\n`).join(""), lengths);
        const read: string[] = [];
        while (read.length < lines.length) read.push(...(await given.source.next()));
        await written;
        expect(read).toEqual(lines);
        given.source.close();
      }),
      { numRuns: 60 },
    );
  });

  test("together when they came together, and never in part", async ({ expect }) => {
    const given = reading();
    void given.writer.write(encode("a\nb\n\nc"));
    expect(await given.source.next()).toEqual(["a", "b", ""]);
    void given.writer.write(encode("d\n"));
    expect(await given.source.next()).toEqual(["cd"]);
    given.source.close();
  });
});

describe("a source of lines", () => {
  test("that ends without its closing line counts as broken, also within a line", async ({
    expect,
  }) => {
    const given = reading();
    void given.writer.write(encode("a\nhal"));
    void given.writer.close();
    expect(await given.source.next()).toEqual(["a"]);
    await expect(given.source.next()).rejects.toThrow("broke");
  });

  test("that fails has failed", async ({ expect }) => {
    const given = reading();
    void given.writer.write(encode("a\n"));
    expect(await given.source.next()).toEqual(["a"]);
    const next = given.source.next();
    await given.writer.abort(new Error("gone"));
    await expect(next).rejects.toThrow();
  });

  test("that is closed before its end notifies its writer, once", async ({ expect }) => {
    const given = reading();
    void given.writer.write(encode("a\n"));
    await given.source.next();
    given.source.close();
    given.source.close();
    expect(given.closings).toBe(1);
  });

  test("that is closed after its end does not notify its writer", async ({ expect }) => {
    const given = reading();
    void given.writer.write(encode(`a\n${OVER}\n`));
    expect(await given.source.next()).toEqual(["a", OVER]);
    given.source.close();
    expect(given.closings).toBe(0);
  });

  test("that is closed while a reader waits for it releases that reader", async ({ expect }) => {
    const given = reading();
    const next = given.source.next();
    given.source.close();
    await expect(next).rejects.toThrow();
  });
});
