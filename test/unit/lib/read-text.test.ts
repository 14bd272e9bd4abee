/** Reading a body within a limit. */

import { test } from "vitest";

import { readText, TooLargeError } from "../../../src/lib/read-text.ts";
import { bodyOf, bytesOf } from "../upstream/fake-target.ts";

test("a body of just the limit is read, one byte more is not", async ({ expect }) => {
  expect(await readText(bodyOf([bytesOf("aé"), bytesOf("b")]), 4)).toBe("aéb");
  await expect(readText(bodyOf([bytesOf("aé"), bytesOf("bc")]), 4)).rejects.toThrow(TooLargeError);
});

test("characters come through any chunks", async ({ expect }) => {
  const bytes = Array.from(bytesOf("é😀"), (byte) => Uint8Array.of(byte));
  expect(await readText(bodyOf(bytes), 100)).toBe("é😀");
});

test("broken and unfinished characters become U+FFFD", async ({ expect }) => {
  const bytes = [bytesOf("a"), Uint8Array.of(0xff), bytesOf("b"), Uint8Array.of(0xc3)];
  expect(await readText(bodyOf(bytes), 100)).toBe("a\ufffdb\ufffd");
});

test("no body is no text", async ({ expect }) => {
  expect(await readText(null, 100)).toBe("");
  expect(await readText(bodyOf([]), 0)).toBe("");
});

test("a body that is too large is not read to its end, and is cancelled", async ({ expect }) => {
  let chunks = 0;
  let isCancelled = false;
  function* endless(): Generator<Uint8Array> {
    for (; chunks < 10_000; chunks++) yield bytesOf("x".repeat(10));
  }
  const body = bodyOf(endless(), () => {
    isCancelled = true;
  });
  await expect(readText(body, 100)).rejects.toThrow(TooLargeError);
  expect(isCancelled).toBe(true);
  expect(chunks).toBeLessThan(20);
});

test("a byte order mark is no text, in any chunks", async ({ expect }) => {
  const bytes = [0xef, 0xbb, 0xbf, 0x61];
  expect(await readText(bodyOf([Uint8Array.from(bytes)]), 4)).toBe("a");
  const apart = bytes.map((byte) => Uint8Array.of(byte));
  expect(await readText(bodyOf(apart), 4)).toBe("a");
});

test("a body that breaks off is no text", async ({ expect }) => {
  let pulls = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulls += 1;
      if (pulls === 1) controller.enqueue(bytesOf("a"));
      else controller.error(new Error("reset by peer"));
    },
  });
  await expect(readText(body, 100)).rejects.toThrow("reset by peer");
});

test("a body that is too large is reported as such, however its sender ends", async ({
  expect,
}) => {
  const body = bodyOf([bytesOf("x".repeat(101))], () => {
    throw new Error("not now");
  });
  await expect(readText(body, 100)).rejects.toThrow(TooLargeError);
});
