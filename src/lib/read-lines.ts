/**
 * A stream of bytes as lines, each without its end. What follows the last line break is left out.
 *
 * @param signal ends the stream when it is aborted, also while a line is waited for.
 */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  // Whoever leaves before the end wants no more of it; it may have broken by itself.
  const leave = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
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
    signal.removeEventListener("abort", leave);
    leave();
  }
}
