/** A stream that can be ended from outside: its reader sees a clean end, its source a cancel. */

export interface Endable {
  readonly body: ReadableStream<Uint8Array>;
  /** Ends the stream between two chunks; chunks that were not read by then are dropped. */
  readonly end: () => void;
}

/** @param onOver called once, however the stream ends. */
export function endable(source: ReadableStream<Uint8Array>, onOver: () => void): Endable {
  const reader = source.getReader();
  let isOver = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const over = (): void => {
    if (!isOver) onOver();
    isOver = true;
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      async pull(pulled) {
        try {
          const { done, value } = await reader.read();
          if (isOver) return;
          if (!done) {
            pulled.enqueue(value);
            return;
          }
          over();
          pulled.close();
        } catch (error) {
          if (isOver) return;
          over();
          throw error;
        }
      },
      async cancel(reason) {
        over();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const end = (): void => {
    if (isOver) return;
    over();
    controller?.close();
    reader.cancel(new Error("The stream was ended")).catch(() => undefined); // it is not wanted
  };
  return { body, end };
}
