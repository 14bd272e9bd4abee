/**
 * Finds events in the text of a stream (HTML Living Standard, 9.2.6). The library with which the gateway reads servers
 * is a third of the size that the command may have left for publishing.
 */

import { lineSplitter } from "../../src/lib/read-lines.ts";

export interface StreamEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/**
 * @param onRetry takes how long to wait before the stream is taken up, in milliseconds.
 * @returns a function that takes the next piece of the text, and returns the events that it completes.
 */
export function eventParser(onRetry: (ms: number) => void): (text: string) => StreamEvent[] {
  const linesIn = lineSplitter();
  let data: string[] = [];
  let id: string | undefined;
  let isFirst = true;
  /** A carriage return at the end of a piece, whose line feed may be in the next one. */
  let rest = "";

  function take(line: string): StreamEvent[] {
    if (line === "") {
      // What has no data is discarded.
      const events = data.length === 0 ? [] : [{ id, data: data.join("\n") }];
      data = [];
      id = undefined;
      return events;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && /^\d+$/.test(value)) onRetry(Number(value));
    return [];
  }

  return (piece) => {
    const text = rest + (isFirst ? piece.replace(/^\uFEFF/, "") : piece);
    isFirst &&= piece === "";
    rest = text.endsWith("\r") ? "\r" : "";
    return linesIn(text.slice(0, text.length - rest.length).replaceAll(/\r\n?/g, "\n")).flatMap(
      take,
    );
  };
}
