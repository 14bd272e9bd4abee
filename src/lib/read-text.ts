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
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new TooLargeError(`more than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
