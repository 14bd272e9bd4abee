/**
 * Reads a stream of bytes as lines without their line breaks. Text after the last line break is dropped.
 *
 * @param signal ends the stream when it is aborted, even during a wait for a line.
 */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  // Cancelling may fail: the stream may have broken by itself.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  /** The beginning of a line, in pieces: it is joined once. */
  let pieces: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return;
      const [head = "", ...rest] = value.split("\n");
      pieces.push(head);
      const last = rest.pop();
      if (last === undefined) continue;
      const line = pieces.join("");
      pieces = [last];
      yield line;
      yield* rest;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
