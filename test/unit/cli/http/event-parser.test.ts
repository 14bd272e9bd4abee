import * as fc from "fast-check";
import { createParser } from "eventsource-parser";
import { test } from "vitest";

import { eventParser, type StreamEvent } from "../../../../cli/http/event-parser.ts";

interface Read {
  readonly events: readonly StreamEvent[];
  readonly retries: readonly number[];
}

function readBy(pieces: readonly string[]): Read {
  const retries: number[] = [];
  const eventsIn = eventParser((ms) => retries.push(ms));
  return { events: pieces.flatMap((piece) => eventsIn(piece)), retries };
}

function readByLibrary(text: string): Read {
  const events: StreamEvent[] = [];
  const retries: number[] = [];
  const parser = createParser({
    onEvent: ({ id, data }) => events.push({ id, data }),
    onRetry: (ms) => retries.push(ms),
  });
  parser.feed(text);
  return { events, retries };
}

function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let start = 0, turn = 0; start < text.length; turn++) {
    const size = (sizes[turn % sizes.length] ?? 0) + 1;
    pieces.push(text.slice(start, start + size));
    start += size;
  }
  return pieces;
}

test("the events are those that the library of the gateway finds, wherever the text is cut", ({
  expect,
}) => {
  const line = fc.oneof(
    fc.constantFrom("", "data", "data:", "data: ", "id", "id: a\0b", "retry: 1x", "retry:20"),
    fc.constantFrom(": comment", "event: message", "Data: no", "data : no", "id: 7"),
    fc.string().map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
  );
  const ended = fc.tuple(line, fc.constantFrom("\n", "\r\n", "\n\n", "\r\n\r\n"));
  const texts = fc.array(ended).map((lines) => lines.flat().join(""));
  const sizes = fc.array(fc.nat(30), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(texts, sizes, (text, lengths) => {
      expect(readBy(cut(text, lengths))).toEqual(readByLibrary(text));
    }),
    { numRuns: 300 },
  );
});

test("a line may end with a carriage return alone, and a stream begin with a mark", ({
  expect,
}) => {
  const event = { id: "1", data: "a\nb" };
  const text = "\uFEFFid: 1\rdata: a\rdata: b\r\r\n\n";
  expect(readBy([text]).events).toEqual([event]);
  expect(readBy(text.split("")).events).toEqual([event]);
});
