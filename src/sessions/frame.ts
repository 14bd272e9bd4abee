/**
 * The frames between a session's object and the Worker that holds a client's stream: one line of text
 * each. An event is its id, a space and its data; empty data marks the place before the first event.
 */

import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import { tryJson } from "../lib/try-json.ts";

export type Frame =
  | EventFrame
  | ControlFrame
  /** The session ends this connection: the Worker closes the client's stream. */
  | { readonly kind: "over" };

export interface EventFrame {
  readonly kind: "event";
  readonly id: string;
  readonly data: string;
}

/** Not for the client, and not in the order of its events: the Worker obeys it at once. */
type ControlFrame =
  /** Watch these upstream sessions from now on, and no others. */
  { readonly kind: "watch"; readonly request: JsonObject } | { readonly kind: "unwatch" };

const WATCH = "!watch ";
const UNWATCH = "!unwatch";
export const OVER = "!over";

/** WebSocket close codes: the session's object ends the stream, or the client has gone. */
export const OVER_CODE = 4000;
export const CLIENT_GONE_CODE = 4001;

export function eventFrame(id: string, data: string): string {
  return `${id} ${data}`;
}

export function watchFrame(request: object | undefined): string {
  return request === undefined ? UNWATCH : WATCH + JSON.stringify(request);
}

export function isControlFrame(line: string): boolean {
  return line === UNWATCH || line.startsWith(WATCH);
}

export function parseFrame(line: string): Frame {
  if (line === OVER) return { kind: "over" };
  if (line === UNWATCH) return { kind: "unwatch" };
  if (line.startsWith(WATCH)) {
    const request = tryJson(line.slice(WATCH.length));
    return isObject(request) ? { kind: "watch", request } : { kind: "unwatch" };
  }
  const space = line.indexOf(" ");
  return { kind: "event", id: line.slice(0, space), data: line.slice(space + 1) };
}
