/**
 * The members that the gateway alone sets: keys of `_meta` that begin with `edgeway/`, and
 * `data.upstream` of an error with the members beside it. A server that sends them would be taken
 * for the gateway, so they are removed from all messages of servers.
 */

import { type ErrorObject, isObject, type JsonObject } from "./json-rpc.ts";

const PREFIX = "edgeway/";
/** Of an error that the gateway makes in the place of a server: `upstream` is the sign of it. */
const OF_ERRORS: ReadonlySet<string> = new Set(["upstream", "reason", "status", "retryAfter"]);
/** Members with data of the tool itself: a `_meta` in there is not MCP's. */
const FOREIGN: ReadonlySet<string> = new Set([
  ...["structuredContent", "inputSchema", "outputSchema", "requestedSchema"],
]);

/** @returns the same object when there is nothing to remove. */
export function withoutGatewayMeta(value: JsonObject): JsonObject {
  return mapMembers(value, (member, key) => {
    if (key === "_meta") return isObject(member) ? withoutOwnKeys(member) : member;
    // Its keys are the server's to choose, so they say nothing of what they hold.
    if (key === "inputRequests" && isObject(member)) return mapMembers(member, cleaned);
    return FOREIGN.has(key) ? member : cleaned(member);
  });
}

/** @returns the error as the server's own. */
export function withoutGatewayData(error: ErrorObject): ErrorObject {
  if (!isObject(error.data)) return error;
  const data = withoutGatewayMeta(error.data);
  if (!Object.hasOwn(data, "upstream")) return data === error.data ? error : { ...error, data };
  const own = Object.entries(data).filter(([key]) => !OF_ERRORS.has(key));
  const { data: _, ...rest } = error;
  return own.length === 0 ? rest : { ...rest, data: Object.fromEntries(own) };
}

function cleaned(value: unknown): unknown {
  if (isObject(value)) return withoutGatewayMeta(value);
  if (!Array.isArray(value)) return value;
  const elements = value.map(cleaned);
  return elements.some((element, n) => element !== value[n]) ? elements : value;
}

function withoutOwnKeys(meta: JsonObject): JsonObject {
  const keys = Object.keys(meta);
  if (!keys.some((key) => key.startsWith(PREFIX))) return meta;
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !key.startsWith(PREFIX)));
}

/** Copies nothing until something changes: lists of ten thousand tools come this way. */
function mapMembers(value: JsonObject, map: (member: unknown, key: string) => unknown): JsonObject {
  const keys = Object.keys(value);
  const mapped = keys.map((key) => map(value[key], key));
  return mapped.every((member, n) => member === value[keys[n] ?? ""])
    ? value
    : Object.fromEntries(keys.map((key, n) => [key, mapped[n]]));
}
