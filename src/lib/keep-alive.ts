/**
 * Keeps a quiet text stream alive with a filler. Writing is also the only way to notice a client
 * that has hung up: a closed connection is invisible until something is written to it.
 */

export interface KeepAliveOptions {
  /** Sent first, before anything of the source. */
  readonly preamble?: string;
  readonly filler: string;
  readonly intervalMs: number;
}

/**
 * Passes a stream through and adds the filler after every interval of silence, but only where
 * the bytes so far end with a blank line, so that no event is ever cut in two.
 *
 * @returns a stream that pulls from the source only as fast as it is read itself.
 */
export function withKeepAlive(
  source: ReadableStream<Uint8Array>,
  { preamble = "", filler, intervalMs }: KeepAliveOptions,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const encoder = new TextEncoder();
  let isBetweenEvents = true;
  let reading: ReturnType<typeof reader.read> | undefined;

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (preamble !== "") controller.enqueue(encoder.encode(preamble));
      },
      async pull(controller) {
        reading ??= reader.read();
        const chunk = await settleWithin(reading, intervalMs);
        if (chunk === undefined) {
          // In mid-event an empty chunk takes its place: only an enqueue makes the next pull.
          controller.enqueue(isBetweenEvents ? encoder.encode(filler) : new Uint8Array(0));
          return;
        }
        reading = undefined;
        if (chunk.done || chunk.value === undefined) {
          controller.close();
          return;
        }
        isBetweenEvents = endsWithBlankLine(chunk.value, isBetweenEvents);
        controller.enqueue(chunk.value);
      },
      async cancel(reason) {
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** `undefined` when the time is over first; the promise may be waited for again. */
async function settleWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: number | null = null;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

const NEWLINE = 10;

function endsWithBlankLine(bytes: Uint8Array, before: boolean): boolean {
  if (bytes.length === 0) return before;
  // A chunk of a lone newline cannot be told from the end of a line: the next chunk will tell.
  return bytes.at(-1) === NEWLINE && bytes.at(-2) === NEWLINE;
}
