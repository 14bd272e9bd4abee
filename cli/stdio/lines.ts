/** The lines of a stream, without the empty ones. */

import type { Readable } from "node:stream";

import { lineSplitter } from "../../src/lib/read-lines.ts";

/** @param onLong takes what is longer than a line may be, in pieces. */
export function readLines(
  stream: Readable,
  onLine: (line: string) => void,
  maxChars = Infinity,
  onLong = onLine,
): void {
  let linesIn = lineSplitter();
  let begun = 0;
  const take = (text: string): void => {
    for (const line of linesIn(text)) if (line.trim() !== "") onLine(line);
  };
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    take(text);
    const end = text.lastIndexOf("\n");
    begun = end === -1 ? begun + text.length : text.length - end - 1;
    if (begun <= maxChars) return;
    begun = 0;
    for (const line of linesIn("\n")) onLong(line);
    linesIn = lineSplitter();
  });
  // Some write no line break after their last message.
  stream.once("end", () => take("\n"));
  stream.on("error", () => undefined);
}
