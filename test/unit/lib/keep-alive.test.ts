/** The filler of quiet streams, by a fake clock: it comes in silence, and never within an event. */

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { withKeepAlive } from "../../../src/lib/keep-alive.ts";
import { bytesOf, failureOf } from "../upstream/fake-target.ts";

const FILLER = ": keepalive\n\n";
const options = { filler: FILLER, intervalMs: 1000 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Source {
  readonly stream: ReadableStream<Uint8Array>;
  readonly push: (text: string) => Promise<void>;
  readonly end: (error?: Error) => void;
  cancelled: unknown;
}

function source(): Source {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const made: Source = {
    stream: new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
      },
      cancel: (reason) => {
        made.cancelled = reason;
      },
    }),
    async push(text) {
      controller?.enqueue(bytesOf(text));
      await vi.advanceTimersByTimeAsync(0);
    },
    end: (error) => (error === undefined ? controller?.close() : controller?.error(error)),
    cancelled: undefined,
  };
  return made;
}

/** Reads for ever, and returns the text that has come so far. */
function reading(stream: ReadableStream<Uint8Array>): { text: () => string; done: Promise<void> } {
  const decoder = new TextDecoder();
  let text = "";
  async function read(): Promise<void> {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  }
  return { text: () => text, done: read() };
}

describe("withKeepAlive()", () => {
  test("fills every interval of silence, and none before it is over", async ({ expect }) => {
    const { stream } = source();
    const read = reading(withKeepAlive(stream, options));
    await vi.advanceTimersByTimeAsync(999);
    expect(read.text()).toBe("");
    await vi.advanceTimersByTimeAsync(1);
    expect(read.text()).toBe(FILLER);
    await vi.advanceTimersByTimeAsync(2000);
    expect(read.text()).toBe(FILLER.repeat(3));
  });

  test("counts the silence anew after everything that passes", async ({ expect }) => {
    const { stream, push } = source();
    const read = reading(withKeepAlive(stream, options));
    for (const text of ["data: a\n\n", "data: b\n\n"]) {
      await vi.advanceTimersByTimeAsync(900);
      await push(text);
    }
    await vi.advanceTimersByTimeAsync(900);
    expect(read.text()).toBe("data: a\n\ndata: b\n\n");
    await vi.advanceTimersByTimeAsync(100);
    expect(read.text()).toBe(`data: a\n\ndata: b\n\n${FILLER}`);
  });

  test("sends the preamble first", async ({ expect }) => {
    const { stream, push } = source();
    const read = reading(withKeepAlive(stream, { ...options, preamble: ": hi\n\n" }));
    await push("data: a\n\n");
    expect(read.text()).toBe(": hi\n\ndata: a\n\n");
  });

  test("waits with the filler until an event is whole, and goes on then", async ({ expect }) => {
    const { stream, push } = source();
    const read = reading(withKeepAlive(stream, options));
    await push("data: a\ndata: ");
    await vi.advanceTimersByTimeAsync(3000);
    expect(read.text()).toBe("data: a\ndata: ");
    await push("b\n\n");
    await vi.advanceTimersByTimeAsync(1000);
    expect(read.text()).toBe(`data: a\ndata: b\n\n${FILLER}`);
  });

  test("fills after an event whose last line end came by itself", async ({ expect }) => {
    const { stream, push } = source();
    const read = reading(withKeepAlive(stream, options));
    await push("data: a\n");
    await push("\n");
    await vi.advanceTimersByTimeAsync(1000);
    expect(read.text()).toBe(`data: a\n\n${FILLER}`);
  });

  test("ends with its source, and leaves no timer", async ({ expect }) => {
    const { stream, push, end } = source();
    const read = reading(withKeepAlive(stream, options));
    await push("data: a\n\n");
    end();
    await read.done;
    expect(read.text()).toBe("data: a\n\n");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("fails with its source", async ({ expect }) => {
    const { stream, end } = source();
    const read = failureOf(reading(withKeepAlive(stream, options)).done);
    end(new Error("broken"));
    await vi.advanceTimersByTimeAsync(0);
    expect(await read).toEqual(new Error("broken"));
    expect(vi.getTimerCount()).toBe(0);
  });

  test("cancels its source when the reader leaves", async ({ expect }) => {
    const made = source();
    const reader = withKeepAlive(made.stream, options).getReader();
    const read = reader.read();
    await reader.cancel("gone");
    await read;
    expect(made.cancelled).toBe("gone");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("leaves no timer when the reader leaves between two events", async ({ expect }) => {
    const { stream, push } = source();
    const reader = withKeepAlive(stream, options).getReader();
    const read = reader.read();
    await push("data: a\n\n");
    await read;
    await reader.cancel("gone");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("sets no timer for each event, and leaves none to a reader that stalls", async ({
    expect,
  }) => {
    const { stream, push } = source();
    const reader = withKeepAlive(stream, options).getReader();
    for (let n = 0; n < 20; n++) {
      const read = reader.read();
      await push("data: a\n\n");
      await read;
      expect(vi.getTimerCount()).toBe(1); // the first one's, which is kept
    }
    await vi.advanceTimersByTimeAsync(1000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("takes from its source only what the reader reads", async ({ expect }) => {
    let pulls = 0;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls += 1;
          controller.enqueue(bytesOf("data: a\n\n"));
        },
      },
      { highWaterMark: 0 },
    );
    const reader = withKeepAlive(endless, options).getReader();
    await vi.advanceTimersByTimeAsync(5000);
    expect(pulls).toBe(0);
    await reader.read();
    await vi.advanceTimersByTimeAsync(5000);
    expect(pulls).toBe(1);
  });

  test("never cuts an event in two, for any events, chunks and pauses", async ({ expect }) => {
    const line = fc.string({ unit: fc.constantFrom("a", "é", " ", ":"), maxLength: 5 });
    const event = fc.array(line, { minLength: 1, maxLength: 3 });
    const step = fc.record({ chars: fc.integer({ min: 1, max: 12 }), pause: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 5 }),
        fc.array(step, { minLength: 1, maxLength: 20 }),
        async (events, steps) => {
          const texts = events.map((lines) => lines.map((text) => `data: ${text}\n`).join(""));
          const whole = texts.map((text) => `${text}\n`).join("");
          const { stream, push, end } = source();
          const read = reading(withKeepAlive(stream, options));
          for (let at = 0, index = 0; at < whole.length; index++) {
            const { chars, pause } = steps[index % steps.length] ?? { chars: 1, pause: true };
            await push(whole.slice(at, (at += chars)));
            if (pause) await vi.advanceTimersByTimeAsync(1000);
          }
          end();
          await read.done;
          const blocks = read.text().split("\n\n").slice(0, -1);
          expect(
            blocks.filter((block) => block !== ": keepalive").map((block) => `${block}\n`),
          ).toEqual(texts);
        },
      ),
    );
  });
});
