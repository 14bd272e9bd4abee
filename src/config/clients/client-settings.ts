/** The settings beside a client's map that forbid something of the servers in it. All others are the client's own. */

import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";

/** @returns whether the client leaves a server out: Gemini CLI's `mcp.allowed` and `mcp.excluded`. */
export function isLeftOut({ mcp }: JsonObject, name: string): boolean {
  const { allowed, excluded } = isObject(mcp) ? mcp : {};
  return (
    (Array.isArray(allowed) && !allowed.includes(name)) ||
    (Array.isArray(excluded) && excluded.includes(name))
  );
}

/** @returns whether some tools of a server may be forbidden: opencode's `tools`, by patterns of its own names. */
export function forbidsTools({ tools }: JsonObject, name: string): boolean {
  if (!isObject(tools)) return false;
  const forbidden = Object.keys(tools).filter((pattern) => tools[pattern] === false);
  return forbidden.some((pattern) => pattern.startsWith("*") || pattern.startsWith(name));
}
