/** A body that crosses from one context to another: chunk after chunk, each at a moment of its own. */

import type { Context } from "./context.ts";

export interface Crossing {
  readonly from: Context;
  readonly to: Context;
  /** Chunks of one lane keep their order. */
  readonly lane: string;
  readonly label: string;
  /** True where the writer learns that the reader has gone. Over RPC it does not. */
  readonly tellsWriter: boolean;
  readonly onArrival?: () => void;
}

export interface CrossedStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Breaks the connection: the reader gets an error, the writer a cancellation, each in its own time. */
  readonly cut: () => void;
  /** Called once when the stream is over, in whatever way. */
  readonly onOver: (callback: () => void) => void;
}

const LOST = "Network connection lost.";

export function cross(source: ReadableStream<Uint8Array>, crossing: Crossing): CrossedStream {
  const { from, to, lane, label, tellsWriter } = crossing;
  const { scheduler } = from;
  const reader = from.run(() => source.getReader());
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;
  let wake: (() => void) | undefined;
  const callbacks: (() => void)[] = [];
  const forgets: (() => void)[] = [];

  const over = (): void => {
    if (isOver) return;
    isOver = true;
    wake?.();
    for (const forget of forgets.splice(0)) forget();
    for (const callback of callbacks.splice(0)) callback();
  };
  const fail = (): void => {
    if (isOver) return;
    over();
    to.run(() => controller?.error(new Error(LOST)));
  };
  const tellWriter = (): void => {
    if (!tellsWriter) return;
    from.post(`${lane} back`, `${label}: the writer learns that the reader has gone`, () => {
      reader.cancel(new Error(LOST)).catch(() => undefined);
    });
  };
  forgets.push(
    from.onEnd(() => scheduler.post(lane, `${label}: found broken`, fail)),
    to.onEnd(() => {
      over();
      tellWriter();
    }),
  );

  const underlying = {
    type: "bytes",
    start: (started: ReadableStreamDefaultController<Uint8Array>) => {
      controller = started;
    },
    pull: () => wake?.(),
    cancel: () => {
      over();
      tellWriter();
    },
  };
  // The types of Node know no streams of bytes; only those cross on the platform.
  const body = new ReadableStream<Uint8Array>(underlying as object);

  const pump = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (isOver) return;
      await new Promise<void>((arrived) => {
        scheduler.post(lane, `${label}: ${done ? "the end" : "a chunk"} arrives`, () => {
          arrived();
          if (isOver) return;
          crossing.onArrival?.();
          if (!done) to.run(() => controller?.enqueue(value.slice()));
          else {
            over();
            to.run(() => controller?.close());
          }
        });
      });
      if ((controller?.desiredSize ?? 1) <= 0 && !isOver) {
        await new Promise<void>((resolve) => (wake = resolve));
        wake = undefined;
      }
      if (isOver) return;
    }
  };
  from.run(() => void pump().catch(() => scheduler.post(lane, `${label}: breaks`, fail)));

  return {
    body,
    cut: () => {
      if (isOver) return;
      scheduler.post(lane, `${label}: found cut by the reader`, fail);
      from.post(`${lane} back`, `${label}: found cut by the writer`, () => {
        reader.cancel(new Error(LOST)).catch(() => undefined);
      });
    },
    onOver: (callback) => {
      if (isOver) callback();
      else callbacks.push(callback);
    },
  };
}
