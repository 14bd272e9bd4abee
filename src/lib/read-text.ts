/** Reads a body within a limit, so that nobody's bytes fill the memory of an isolate. */

export class TooLargeError extends Error {
  override readonly name = "TooLargeError";
}

/**
 * @param maxBytes reading stops, and the rest is cancelled, as soon as more has come.
 * @returns the text as UTF-8, broken sequences replaced by U+FFFD; "" without a body.
 * @throws TooLargeError when the body is longer.
 */
export async function readText(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<string> {
  if (body === null) return "";
  // By `for await`, each chunk would cost half as much again.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel().catch(() => undefined); // it is not wanted, however it ends
      throw new TooLargeError(`more than ${maxBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
