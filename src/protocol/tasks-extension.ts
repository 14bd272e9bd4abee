/**
 * The extension `io.modelcontextprotocol/tasks`, by which a modern server answers a call with the
 * handle of a task. It is of 2026-07-28: the tasks of 2025-11-25 are something else, and the two have
 * only names in common, so neither crosses to the other era.
 */

import { ErrorCode } from "./error-codes.ts";
import {
  dataOf,
  type ErrorObject,
  errorReply,
  isObject,
  type JsonObject,
  type Reply,
} from "./json-rpc.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** @param capabilities that the client declared with a request, and for that request alone. */
export function declaresTasks({ extensions }: JsonObject): boolean {
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

/** The same capabilities of a client, and the extension. */
export function declaringTasks(capabilities: JsonObject): JsonObject {
  const { extensions } = capabilities;
  const others = isObject(extensions) ? extensions : {};
  return { ...capabilities, extensions: { ...others, [TASKS_EXTENSION]: {} } };
}

/** True for an error by which a server requires the extension. */
export function demandsTasks(error: ErrorObject): boolean {
  const required = dataOf(error).requiredCapabilities;
  const isLacking = error.code === ErrorCode.MissingRequiredClientCapability;
  return isLacking && isObject(required) && declaresTasks(required);
}

/** The error for a request that needs the extension but has not declared it (MUST). */
export function lacksTasks(): Reply {
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
  return errorReply(
    ErrorCode.MissingRequiredClientCapability,
    `This request needs the extension ${TASKS_EXTENSION}, which the client has not declared with it`,
    { requiredCapabilities },
  );
}

/** An id travels in a header. In letters of three bytes each, and sealed, the longest is some 8 KiB. */
const MAX_ID_CHARS = 2048;

export function isTaskId(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_ID_CHARS;
}
