/** A stream that can be ended from outside. */

import { describe, test } from "vitest";

import { endable } from "../../../src/lib/endable.ts";

/** A stream that a test writes to, and what has become of it. */
function newSource() {
  const seen = { cancels: 0, overs: 0 };
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const source = new ReadableStream<Uint8Array>({
    start: (started) => void (controller = started),
    cancel: () => void (seen.cancels += 1),
  });
  const { body, end } = endable(source, () => (seen.overs += 1));
  const write = (text: string): void => controller?.enqueue(new TextEncoder().encode(text));
  return {
    seen,
    body,
    end,
    write,
    close: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
  };
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<unknown> {
  const { done, value } = await reader.read();
  return done ? "the end" : new TextDecoder().decode(value);
}

describe("endable()", () => {
  test("passes everything on, up to the end of the source", async ({ expect }) => {
    const { seen, body, write, close, end } = newSource();
    write("a");
    write("b");
    close();
    const reader = body.getReader();
    expect([await readText(reader), await readText(reader), await readText(reader)]).toEqual([
      ...["a", "b", "the end"],
    ]);
    end();
    expect(seen).toEqual({ cancels: 0, overs: 1 });
  });

  test("ends while it is read: the reader sees the end, the source a cancel", async ({
    expect,
  }) => {
    const { seen, body, write, end } = newSource();
    const reader = body.getReader();
    write("a");
    expect(await readText(reader)).toBe("a");
    const reading = readText(reader);
    end();
    end();
    expect([await reading, await readText(reader)]).toEqual(["the end", "the end"]);
    expect(seen).toEqual({ cancels: 1, overs: 1 });
  });

  test("ends while it is not read: unread chunks are not delivered", async ({ expect }) => {
    const { body, write, end } = newSource();
    write("a");
    end();
    expect(await readText(body.getReader())).toBe("the end");
  });

  test("cancels the source when its reader leaves", async ({ expect }) => {
    const { seen, body, end } = newSource();
    await body.cancel();
    end();
    expect(seen).toEqual({ cancels: 1, overs: 1 });
  });

  test("fails its reader when the source fails", async ({ expect }) => {
    const { seen, body, fail } = newSource();
    const reading = body.getReader().read();
    fail(new Error("broken"));
    await expect(reading).rejects.toThrow("broken");
    expect(seen).toEqual({ cancels: 0, overs: 1 });
  });

  test("pulls nothing before it is read", async ({ expect }) => {
    let pulls = 0;
    const source = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(new Uint8Array([++pulls])) },
      { highWaterMark: 0 },
    );
    const reader = endable(source, () => undefined).body.getReader();
    await Promise.resolve();
    expect(pulls).toBe(0);
    await reader.read();
    expect(pulls).toBe(1);
  });
});
