/** Lines of a text that arrives in pieces. Text after the last line break is no line. */

/** @returns a function that takes the next piece, and returns the lines that it completes. */
export function lineSplitter(): (text: string) => readonly string[] {
  /** The beginning of a line, in pieces: it is joined once. */
  let pieces: string[] = [];
  return (text) => {
    const [head = "", ...rest] = text.split("\n");
    pieces.push(head);
    const last = rest.pop();
    if (last === undefined) return [];
    const lines = [pieces.join(""), ...rest];
    pieces = [last];
    return lines;
  };
}

/** @param signal ends the stream when it is aborted, even during a wait for a line. */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  // Cancelling may fail: the stream may have broken by itself.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  const linesIn = lineSplitter();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return;
      for (const line of linesIn(value)) yield line;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
