/**
 * The extension `io.modelcontextprotocol/tasks`, by which a modern server answers a call with the
 * handle of a task. It is of 2026-07-28: the tasks of 2025-11-25 are something else, and the two have
 * only names in common, so neither crosses to the other era.
 */

import { ErrorCode } from "./error-codes.ts";
import { errorReply, isObject, type JsonObject, type Reply } from "./json-rpc.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** @param capabilities of a client as it declared them with a request: it counts for that one alone. */
export function declaresTasks({ extensions }: JsonObject): boolean {
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

/** For whoever asks for what the extension brings without having declared it (MUST). */
export function lacksTasks(): Reply {
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
  return errorReply(
    ErrorCode.MissingRequiredClientCapability,
    `This request needs the extension ${TASKS_EXTENSION}, which the client has not declared with it`,
    { requiredCapabilities },
  );
}
