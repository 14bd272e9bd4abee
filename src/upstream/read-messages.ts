/**
 * Reads the JSON-RPC messages of a response as they come, in any of the formats that servers use:
 * server-sent events, one JSON value, an array of them, or newline-delimited JSON under
 * `application/json` (as a reference server does). Never buffers more than one message.
 */

import { createParser } from "eventsource-parser";

import { tryLossless } from "../lib/lossless-json.ts";
import { mediaType } from "../lib/media-type.ts";
import { scanJson } from "../lib/scan-json.ts";
import type { Parsed } from "../protocol/json-rpc.ts";
import { EventOverhead } from "./event-overhead.ts";
import { parseServerMessage } from "./server-message.ts";
import type { UpstreamTarget } from "./target.ts";
import { UpstreamError } from "./upstream-error.ts";

/**
 * The point where a broken stream can be resumed. Kept up to date while reading: the consumer of a
 * message finds the id of its event here.
 */
export interface SsePosition {
  lastEventId?: string;
  /** The event id of the current message, if it has one; in a batch only the last message has it. */
  ownId?: string | undefined;
  retryMs?: number;
  /** Called for an event id without a message: the stream can be resumed there (priming event). */
  readonly onPrimed?: () => void;
}

interface Event {
  readonly id?: string;
  readonly name: string;
  readonly data: string;
}

/** Yields the items that this text completes; `undefined` is the end, when the rest counts as whole. */
type Take<T> = (text: string | undefined) => Iterable<T>;

const MAX_DEPTH = 1000;
/** Sixteen megabytes of `{},` are a third of a gigabyte as objects; this many are some 30 MiB. */
const MAX_VALUES = 500_000;
const MAX_ID_CHARS = 1024;

/**
 * Yields every message of a successful response.
 *
 * @param resume receives event ids and `retry` as they are read, those of priming events included.
 * @throws UpstreamError `malformed` on anything that is not a JSON-RPC message or is too large;
 *   `lost` when the connection breaks.
 */
export function readMessages(
  target: UpstreamTarget,
  response: Response,
  resume: SsePosition = {},
): AsyncGenerator<Parsed, void, void> {
  const { body, headers } = response;
  switch (mediaType(headers.get("content-type"))) {
    case "text/event-stream":
      return read(target, body, takingMessages(target, resume));
    case "application/json":
      return isKnownWhole(target, headers)
        ? readWhole(target, response)
        : read(target, body, takingJson(target));
    default:
      return read<Parsed>(target, body, undefined);
  }
}

/**
 * True for a body of a declared length: the server has made it whole, so nothing in it waits for the rest.
 * A body that is compressed or chunked may be longer than declared.
 */
function isKnownWhole(target: UpstreamTarget, headers: Headers): boolean {
  const isTrue = !headers.has("content-encoding") && !headers.has("transfer-encoding");
  if (target.isOverNetwork !== true || !isTrue) return false;
  const declared = headers.get("content-length");
  return declared !== null && Number(declared) <= target.maxMessageChars;
}

/** Reads it at once: a stream takes a reader, a decoder and two turns of the event loop, even for a short answer. */
async function* readWhole(
  target: UpstreamTarget,
  response: Response,
): AsyncGenerator<Parsed, void, void> {
  const take = takingJson(target);
  const text = await orLost(target, response.text());
  for (const parsed of take(text)) yield parsed;
  for (const parsed of take(undefined)) yield parsed;
}

/** Yields the named events of a stream: in HTTP+SSE, one of them has the URL to POST to. */
export function readEvents(
  target: UpstreamTarget,
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Event, void, void> {
  return read(target, body, takingEvents(target, {}));
}

/**
 * The one loop under all formats. It reads more only when everything before was taken. Leaving the
 * loop cancels the body.
 *
 * @param take `undefined` for an unknown format.
 */
async function* read<T>(
  target: UpstreamTarget,
  body: ReadableStream<Uint8Array> | null,
  take: Take<T> | undefined,
): AsyncGenerator<T, void, void> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    if (take === undefined) {
      throw malformed(target, "answered with a content type that MCP does not use");
    }
    const decoder = new TextDecoder(); // not fatal: one broken character must not end a session
    for (;;) {
      const chunk = (await orLost(target, reader.read())).value;
      const text = chunk === undefined ? undefined : decoder.decode(chunk, { stream: true });
      for (const taken of take(text)) yield taken;
      if (chunk === undefined) return;
    }
  } finally {
    // The body may have ended or broken by itself.
    await reader.cancel().catch(() => undefined);
  }
}

async function orLost<T>({ slug }: UpstreamTarget, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch {
    const connection = "connection closed in mid-answer";
    throw new UpstreamError(slug, "lost", "broke the connection in mid-answer", { connection });
  }
}

function takingMessages(target: UpstreamTarget, resume: SsePosition): Take<Parsed> {
  const take = takingEvents(target, resume);
  return function* (text) {
    for (const event of take(text)) {
      // Other event names belong to other protocols; empty data is a priming event.
      if (event.name !== "message" || event.data === "") {
        if (event.id !== undefined) resume.lastEventId = event.id;
        continue;
      }
      const messages = [...parseEvent(target, event.data)];
      const last = messages.at(-1);
      for (const message of messages) {
        resume.ownId = message === last ? event.id : undefined;
        if (resume.ownId !== undefined) resume.lastEventId = resume.ownId;
        yield message;
      }
    }
  };
}

function takingEvents(target: UpstreamTarget, resume: SsePosition): Take<Event> {
  const ready: Event[] = [];
  const overhead = new EventOverhead();
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: target.maxMessageChars,
    // An id counts also for an event without data, which the parser does not report.
    onId: (id) => {
      if (id.length <= MAX_ID_CHARS) ready.push({ id, name: "message", data: "" });
    },
    onEvent: ({ id, event, data }) => {
      const name = event ?? "message";
      // The id is stored with every event, so one that is too long is ignored.
      if (id === undefined || id.length > MAX_ID_CHARS) {
        ready.push({ name, data });
        return;
      }
      ready.pop();
      ready.push({ id, name, data });
    },
    onRetry: (retryMs) => {
      resume.retryMs = retryMs;
    },
    onError: (error) => {
      isTooLarge ||= error.type === "max-buffer-size-exceeded";
    },
  });
  return function* (text) {
    // An event that the end of the stream cuts short is discarded (HTML Living Standard, 9.2.6).
    if (text === undefined) return;
    parser.feed(text);
    isTooLarge ||= overhead.add(text) > target.maxMessageChars;
    // Complete events count, whatever follows them.
    for (const event of ready.splice(0)) {
      if (event.id !== undefined && event.data === "") {
        resume.lastEventId = event.id;
        resume.onPrimed?.();
      }
      if (event.data.length > target.maxMessageChars) throw tooLarge(target);
      yield event;
    }
    if (isTooLarge) throw tooLarge(target);
  };
}

/** One JSON value, or one for each line; the body has one for each line if its first line is one. */
function takingJson(target: UpstreamTarget): Take<Parsed> {
  let begun: string[] = [];
  let chars = 0;
  let isByLine: boolean | undefined;
  return function* (text) {
    if (text === undefined) {
      const last = begun.join("");
      if (last.trim() !== "") yield* parseAll(target, parseJson(target, last));
      return;
    }
    begun.push(text);
    chars += text.length;
    // Searching the whole text for each chunk would take quadratic time: text is joined only where a
    // line ends, and a body that is one value only at its end.
    if (isByLine !== false && text.includes("\n")) {
      let rest = begun.join("");
      for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
        const line = rest.slice(0, end).trim();
        if (line !== "") {
          const value = boundedJson(target, line);
          isByLine ??= value !== undefined;
          if (!isByLine) break; // pretty-printed: the body is one value
          if (value === undefined) throw invalid(target);
          yield* parseAll(target, value);
        }
        rest = rest.slice(end + 1);
      }
      begun = [rest];
      chars = rest.length;
    }
    if (chars > target.maxMessageChars) throw tooLarge(target);
  };
}

/** Yields the messages of one event: one, or several where a server sends batches. */
export function parseEvent(target: UpstreamTarget, data: string): Iterable<Parsed> {
  return parseAll(target, parseJson(target, data));
}

function parseJson(target: UpstreamTarget, text: string): unknown {
  const value = boundedJson(target, text);
  if (value === undefined) throw invalid(target);
  return value;
}

/** @returns `undefined` when the text is not JSON. @throws UpstreamError over a limit. */
function boundedJson(target: UpstreamTarget, text: string): unknown {
  const { depth, values, inexact } = scanJson(text, { depth: MAX_DEPTH, values: MAX_VALUES });
  // A value that nests this deep could be parsed, but not stringified again.
  if (depth > MAX_DEPTH) {
    throw malformed(target, `sent a message that nests deeper than ${MAX_DEPTH} levels`);
  }
  if (values > MAX_VALUES) {
    throw malformed(target, `sent a message of over ${MAX_VALUES} values`);
  }
  return tryLossless(text, inexact);
}

function* parseAll(target: UpstreamTarget, value: unknown): Generator<Parsed, void, void> {
  for (const element of Array.isArray(value) ? value : [value]) {
    const parsed = parseServerMessage(target, element);
    if (parsed === undefined) throw malformed(target, "answered with something that is not MCP");
    yield parsed;
  }
}

function malformed(target: UpstreamTarget, sentence: string): UpstreamError {
  return new UpstreamError(target.slug, "malformed", sentence);
}

function invalid(target: UpstreamTarget): UpstreamError {
  return malformed(target, "answered with invalid JSON");
}

function tooLarge(target: UpstreamTarget): UpstreamError {
  return malformed(target, `sent a message of over ${target.maxMessageChars} characters`);
}
