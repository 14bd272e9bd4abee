/** The members of an `Implementation` that people read. */

import type { JsonObject } from "./json-rpc.ts";

/** Icons may be whole images. */
const SHORT: ReadonlySet<string> = new Set(["name", "version", "title"]);

export function shortInfo(info: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(info).filter(([name]) => SHORT.has(name)));
}
