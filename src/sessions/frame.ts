/**
 * What travels between the holder of a session and whoever holds a client's stream: one line of
 * text each. An event is its id, a space and its data, which may be empty: that is the place
 * before the first event.
 */

import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import { tryJson } from "../lib/try-json.ts";

export type Frame =
  | EventFrame
  | Order
  /** The stream is over for this connection: the client's own is to be closed. */
  | { readonly kind: "over" };

export interface EventFrame {
  readonly kind: "event";
  readonly id: string;
  readonly data: string;
}

/** Not for the client, and not in the order of its events: it is followed as it comes. */
type Order =
  /** Watch this upstream session from here on, and no other. */
  { readonly kind: "watch"; readonly order: JsonObject } | { readonly kind: "unwatch" };

const WATCH = "!watch ";
const UNWATCH = "!unwatch";
export const OVER = "!over";

/** How a WebSocket is closed: by its writer when the stream is over, by its reader for a client. */
export const OVER_CODE = 4000;
export const CLIENT_GONE_CODE = 4001;

export function eventFrame(id: string, data: string): string {
  return `${id} ${data}`;
}

export function watchFrame(order: object | undefined): string {
  return order === undefined ? UNWATCH : WATCH + JSON.stringify(order);
}

export function isOrder(line: string): boolean {
  return line === UNWATCH || line.startsWith(WATCH);
}

export function parseFrame(line: string): Frame {
  if (line === OVER) return { kind: "over" };
  if (line === UNWATCH) return { kind: "unwatch" };
  if (line.startsWith(WATCH)) {
    const order = tryJson(line.slice(WATCH.length));
    return isObject(order) ? { kind: "watch", order } : { kind: "unwatch" };
  }
  const space = line.indexOf(" ");
  return { kind: "event", id: line.slice(0, space), data: line.slice(space + 1) };
}
