/** A body that crosses from one context to another: chunk after chunk, each at a moment of its own. */

import type { Context } from "./context.ts";

export interface Crossing {
  readonly from: Context;
  readonly to: Context;
  /** Chunks of one lane keep their order. */
  readonly lane: string;
  readonly label: string;
  /** True where the writer learns at once that the reader has gone. Over RPC it learns it by writing more. */
  readonly tellsWriter: boolean;
  readonly onArrival?: () => void;
  /** Called when the writer has learned that the reader has gone. */
  readonly onWriterTold?: () => void;
}

export interface CrossedStream {
  readonly body: ReadableStream<Uint8Array>;
  /**
   * Breaks the connection: the reader gets an error, the writer a cancellation, each in its own time.
   *
   * @param reason of the reader, who breaks it and so knows at once.
   */
  readonly cut: (reason?: Error) => void;
  /** The reader gets an error now. */
  readonly fail: () => void;
  /** Called once when the stream is over, in whatever way, with whether the writer knows. */
  readonly onOver: (callback: (knowsWriter: boolean) => void) => void;
}

const LOST = "Network connection lost.";

export function cross(source: ReadableStream<Uint8Array>, crossing: Crossing): CrossedStream {
  const { from, to, lane, label, tellsWriter } = crossing;
  const { scheduler } = from;
  const reader = from.run(() => source.getReader());
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;
  let isReaderGone = false;
  let isWriterTold = false;
  let wake: (() => void) | undefined;
  const callbacks: ((knowsWriter: boolean) => void)[] = [];
  const forgets: (() => void)[] = [];

  const over = (knowsWriter: boolean): void => {
    if (isOver) return;
    isOver = true;
    wake?.();
    for (const forget of forgets.splice(0)) forget();
    for (const callback of callbacks.splice(0)) callback(knowsWriter);
  };
  const fail = (reason: Error, knowsWriter: boolean): void => {
    if (isOver) return;
    over(knowsWriter);
    to.run(() => controller?.error(reason));
  };
  const found = (what: string, knowsWriter: boolean): void => {
    scheduler.post(lane, `${label}: ${what}`, () => fail(new Error(LOST), knowsWriter));
  };
  const tellWriter = (what: string): void => {
    if (isWriterTold) return;
    isWriterTold = true;
    from.post(`${lane} back`, `${label}: ${what}`, () => {
      reader.cancel(new Error(LOST)).catch(() => undefined);
      crossing.onWriterTold?.();
    });
  };
  const leave = (): void => {
    isReaderGone = true;
    over(false);
    if (tellsWriter) tellWriter("the writer learns that the reader has gone");
  };
  const wroteToNobody = (): void => {
    if (isReaderGone) tellWriter("the writer learns by writing that the reader has gone");
  };
  forgets.push(
    from.onEnd(() => found("found broken", true)),
    to.onEnd(leave),
  );

  const underlying = {
    type: "bytes",
    start: (started: ReadableStreamDefaultController<Uint8Array>) => {
      controller = started;
    },
    pull: () => wake?.(),
    cancel: leave,
  };
  // The types of Node know no streams of bytes; only those cross on the platform.
  const body = new ReadableStream<Uint8Array>(underlying as object);

  /** @returns whether to read on: also where nobody is there any more, which is found out by writing. */
  const carry = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    const hasArrived =
      !isOver &&
      (await new Promise<boolean>((resolve) => {
        scheduler.post(lane, `${label}: ${done ? "the end" : "a chunk"} arrives`, () => {
          resolve(!isOver);
          if (isOver) return;
          crossing.onArrival?.();
          if (!done) to.run(() => controller?.enqueue(value.slice()));
          else {
            over(true);
            to.run(() => controller?.close());
          }
        });
      }));
    if (!hasArrived) {
      if (!done) wroteToNobody();
      return false;
    }
    if ((controller?.desiredSize ?? 1) <= 0 && !isOver) {
      await new Promise<void>((resolve) => (wake = resolve));
      wake = undefined;
    }
    return !isOver || isReaderGone;
  };
  const pump = async (): Promise<void> => {
    while (await carry());
  };
  from.run(() => void pump().catch(() => found("breaks", true)));

  return {
    body,
    cut: (reason) => {
      if (isOver) return;
      if (reason === undefined) found("found cut by the reader", false);
      else fail(reason, false);
      tellWriter("found cut by the writer");
    },
    fail: () => fail(new Error(LOST), true),
    onOver: (callback) => {
      if (isOver) callback(true);
      else callbacks.push(callback);
    },
  };
}
