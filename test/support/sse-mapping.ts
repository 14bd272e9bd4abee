/** Changes the data of each event of a stream, as it comes; ids and comments stay as they are. */

/** @param map of the data of an event that has some, on one line as every MCP server sends it. */
export function mapEvents(
  body: ReadableStream<Uint8Array>,
  map: (data: string) => string,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        const mapped = lines.map((line) => `${mapLine(line, map)}\n`).join("");
        if (mapped !== "") controller.enqueue(encoder.encode(mapped));
      },
      flush(controller) {
        if (rest !== "") controller.enqueue(encoder.encode(rest));
      },
    }),
  );
}

function mapLine(line: string, map: (data: string) => string): string {
  const field = /^data: ?/.exec(line)?.[0];
  if (field === undefined || field.length === line.length) return line;
  return field + map(line.slice(field.length));
}
