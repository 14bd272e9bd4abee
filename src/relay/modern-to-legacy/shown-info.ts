/**
 * The part of a server's own description that each of its results carries: its name, and not its
 * icons, which may be whole images. `server/discover` has all of it.
 */

import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";

const SHOWN = ["name", "version", "title", "websiteUrl"] as const;
const MAX_CHARS = 256;

/** @returns `undefined` for a server without a name and a version that can be shown. */
export function shownInfo(serverInfo: unknown): JsonObject | undefined {
  if (!isObject(serverInfo)) return undefined;
  const shown: Record<string, string> = {};
  for (const member of SHOWN) {
    const text = serverInfo[member];
    if (typeof text === "string" && text.length <= MAX_CHARS) shown[member] = text;
  }
  return shown["name"] === undefined || shown["version"] === undefined ? undefined : shown;
}
