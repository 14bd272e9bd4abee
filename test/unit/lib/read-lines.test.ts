/** Lines out of a stream of bytes, however it is cut. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { readLines } from "../../../src/lib/read-lines.ts";
import { bodyOf, bytesOf } from "../upstream/fake-target.ts";

const { signal } = new AbortController();

async function all(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const read: string[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

/** Bytes in pieces of these sizes, over and over. */
function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0, n = 0; start < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    pieces.push(bytes.slice(start, start + size));
    start += size;
  }
  return pieces;
}

describe("readLines()", () => {
  test("gives the lines that were written, however they are cut", async ({ expect }) => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "));
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(line), sizes, async (lines, sizes) => {
        const bytes = bytesOf(lines.map((one) => `${one}\n`).join(""));
        const read = await all(readLines(bodyOf(cut(bytes, sizes)), signal));
        expect(read).toEqual(lines);
      }),
    );
  });

  test("leaves out a line without an end", async ({ expect }) => {
    const read = await all(readLines(bodyOf([bytesOf("a\nb")]), signal));
    expect(read).toEqual(["a"]);
  });

  test("notifies the writer when its reader leaves", async ({ expect }) => {
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    for await (const line of readLines(bodyOf([bytesOf("a\n"), bytesOf("b\n")], resolve), signal)) {
      expect(line).toBe("a");
      break;
    }
    await cancelled;
  });

  test("gives nothing when it was aborted before it began", async ({ expect }) => {
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    const silent = new ReadableStream<Uint8Array>({ cancel: () => resolve() });
    expect(await all(readLines(silent, AbortSignal.abort()))).toEqual([]);
    await cancelled;
  });

  test("ends when it is aborted while it waits", async ({ expect }) => {
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    const leaving = new AbortController();
    const silent = new ReadableStream<Uint8Array>({ cancel: () => resolve() });
    const read = all(readLines(silent, leaving.signal));
    leaving.abort();
    expect(await read).toEqual([]);
    await cancelled;
  });
});
