/** Reads an upstream's answer back through `readMessages`, for the tests of every format. */

import type { Parsed } from "../../../src/protocol/json-rpc.ts";
import { readMessages, type SsePosition } from "../../../src/upstream/read-messages.ts";
import { bodyOf, fakeTarget } from "./fake-target.ts";

export const target = fakeTarget(() => new Response());
export const smallTarget = fakeTarget(() => new Response(), { maxMessageChars: 1024 });

/** The platform holds it to the lengths that it declares. */
export const networkTarget = fakeTarget(() => new Response(), { isOverNetwork: true });

export const EVENTS = "text/event-stream";
export const JSON_TYPE = "application/json";

/** One message as JSON text, distinguished by its value. */
export function notice(value: unknown, indent?: number | string): string {
  return JSON.stringify({ jsonrpc: "2.0", method: "n", params: { value } }, null, indent);
}

export function answer(chunks: Iterable<Uint8Array>, type: string): Response {
  return new Response(bodyOf(chunks), { headers: { "Content-Type": type } });
}

/** An answer that declares its length. */
export function declaring(
  length: number,
  body: BodyInit,
  more: Readonly<Record<string, string>> = {},
): Response {
  const headers = { "Content-Type": JSON_TYPE, "Content-Length": String(length), ...more };
  return new Response(body, { headers });
}

/** All messages of a response: those of `notice` by their values. */
export async function readAll(
  response: Response,
  by = target,
  resume: SsePosition = {},
): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const parsed of readMessages(by, response, resume)) values.push(valueOf(parsed));
  return values;
}

function valueOf({ message }: Parsed): unknown {
  return "params" in message ? message.params?.["value"] : message;
}

/** Cuts bytes into chunks of these sizes, taken again and again. */
export function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (let index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    chunks.push(bytes.slice(at, at + size));
    at += size;
  }
  return chunks;
}
