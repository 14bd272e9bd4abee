/** What crosses between contexts in a call: values as copies, streams chunk by chunk. */

import type { Context } from "./context.ts";
import { cross } from "./streams.ts";

export interface Way {
  readonly from: Context;
  readonly to: Context;
  readonly lane: string;
  readonly label: string;
}

/** @param way there where the value may hold streams. */
export function copyOver(value: unknown, way?: Way): unknown {
  if (value instanceof ReadableStream) {
    if (way === undefined) throw new Error("A stream crosses only in an answer here");
    const crossing = { ...way, lane: `${way.lane} body`, tellsWriter: false };
    return cross(value as ReadableStream<Uint8Array>, crossing).body;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copyOver(item, way));
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) {
    return structuredClone(value);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOver(item, way)]));
}
