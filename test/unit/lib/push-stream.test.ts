/** A stream that is written to from outside: back-pressure, and both ways for it to end. */

import { describe, test } from "vitest";

import { PushStream } from "../../../src/lib/push-stream.ts";

/** Lets all promises that can settle do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** Watches a promise, to see whether it is settled. */
function watch(promise: Promise<void>): { isDone: boolean } {
  const watched = { isDone: false };
  void promise.then(() => {
    watched.isDone = true;
  });
  return watched;
}

function textOf(value: Uint8Array | undefined): string {
  return new TextDecoder().decode(value);
}

describe("write()", () => {
  test("brings everything through, in its order, and then the end", async ({ expect }) => {
    const stream = new PushStream({ windowBytes: 1000 });
    for (const text of ["a", "é", "😀\n"]) await stream.write(text);
    stream.close();
    expect(await new Response(stream.body).text()).toBe("aé😀\n");
  });

  test("does not wait while there is room", async ({ expect }) => {
    const stream = new PushStream({ windowBytes: 100 });
    const written = watch(stream.write("x".repeat(50)));
    await settle();
    expect({ ...written, isFull: stream.isFull }).toEqual({ isDone: true, isFull: false });
  });

  test("beyond the window waits until the reader reads", async ({ expect }) => {
    const stream = new PushStream({ windowBytes: 10 });
    const reader = stream.body.getReader({ mode: "byob" });
    const take = async (): Promise<string> => textOf((await reader.read(new Uint8Array(20))).value);
    const writes = ["a".repeat(20), "b".repeat(20)].map((text) => watch(stream.write(text)));
    await settle();
    expect(stream.isFull).toBe(true);
    expect(writes).toEqual([{ isDone: false }, { isDone: false }]);

    // One of two chunks is taken: the reader is still behind by more than the window.
    expect(await take()).toBe("a".repeat(20));
    await settle();
    expect(writes).toEqual([{ isDone: false }, { isDone: false }]);

    expect(await take()).toBe("b".repeat(20));
    const asksForMore = take(); // workerd notifies the writer when the reader comes back for more
    await settle();
    expect(writes).toEqual([{ isDone: true }, { isDone: true }]);
    expect(stream.isFull).toBe(false);
    await stream.write("c");
    expect(await asksForMore).toBe("c");
  });

  test("gives a waiting reader its text at once", async ({ expect }) => {
    const stream = new PushStream({ windowBytes: 10 });
    const read = stream.body.getReader().read();
    await stream.write("late but whole");
    expect(textOf((await read).value)).toBe("late but whole");
  });
});

describe("the end", () => {
  test("by a reader that leaves releases every writer, and is reported once", async ({
    expect,
  }) => {
    let cancels = 0;
    const stream = new PushStream({ windowBytes: 1, onCancel: () => (cancels += 1) });
    const writes = ["aaaa", "bbbb"].map((text) => watch(stream.write(text)));
    const room = watch(stream.hasRoom());
    await settle();
    expect([...writes, room].some(({ isDone }) => isDone)).toBe(false);
    await stream.body.cancel();
    await settle();
    expect([...writes, room].every(({ isDone }) => isDone)).toBe(true);
    expect({ cancels, isOpen: stream.isOpen, isFull: stream.isFull }).toEqual({
      cancels: 1,
      isOpen: false,
      isFull: false,
    });
    await stream.write("to nobody");
    stream.close();
    expect(cancels).toBe(1);
  });

  test("by a reader that is reported as gone ends the stream for the code that still reads for it", async ({
    expect,
  }) => {
    let cancels = 0;
    const stream = new PushStream({ windowBytes: 1, onCancel: () => (cancels += 1) });
    const reader = stream.body.getReader();
    const write = watch(stream.write("taken"));
    await reader.read();
    const read = reader.read();
    const ended = watch(reader.closed);
    stream.abandon();
    await settle();
    expect([ended, write, stream.isOpen]).toEqual([{ isDone: true }, { isDone: true }, false]);
    expect((await read).done).toBe(true);
    stream.abandon();
    stream.close();
    await stream.write("to nobody");
    expect(cancels).toBe(1);
  });

  test("by the writer releases every writer, and what was written still arrives", async ({
    expect,
  }) => {
    let cancels = 0;
    const stream = new PushStream({ windowBytes: 1, onCancel: () => (cancels += 1) });
    const write = watch(stream.write("all of it"));
    stream.close();
    await settle();
    expect({ ...write, isOpen: stream.isOpen }).toEqual({ isDone: true, isOpen: false });
    await stream.write("too late");
    stream.close();
    expect(await new Response(stream.body).text()).toBe("all of it");
    expect(cancels).toBe(0);
  });
});
