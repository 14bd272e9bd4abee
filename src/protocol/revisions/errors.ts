/** Translates errors whose codes differ between the two eras. */

import { ErrorCode } from "../error-codes.ts";
import { dataOf, type ErrorObject } from "../json-rpc.ts";

/** A code of 2025-11-25: the user must visit a page before the server can serve the request. */
export const URL_ELICITATION_REQUIRED = -32_042;
/** Codes that have a meaning on the modern wire only (2026-07-28, basic, error codes). */
const RESERVED = { from: -32_099, to: -32_020 } as const;

/** A modern server's error, for a legacy client. */
export function toLegacyError(method: string, error: ErrorObject): ErrorObject {
  const isNotFound =
    method === "resources/read" &&
    error.code === ErrorCode.InvalidParams &&
    typeof dataOf(error).uri === "string";
  return isNotFound ? { ...error, code: ErrorCode.ResourceNotFound } : error;
}

/**
 * A legacy server's error, for a modern client.
 *
 * @param uri of the resource requested, for a server that does not repeat it.
 */
export function toModernError(method: string, error: ErrorObject, uri?: unknown): ErrorObject {
  const { code } = error;
  if (code === ErrorCode.ResourceNotFound) {
    // MUST be -32602, SHOULD name the resource (2026-07-28, resources).
    const said = dataOf(error);
    const named = { ...said, uri: typeof said.uri === "string" ? said.uri : uri };
    const isNameless = method !== "resources/read" || named.uri === undefined;
    return { ...error, code: ErrorCode.InvalidParams, ...(isNameless ? {} : { data: named }) };
  }
  // A modern client would read a meaning into the code that a legacy server cannot intend.
  const isReserved = code >= RESERVED.from && code <= RESERVED.to;
  return isReserved ? { ...error, code: ErrorCode.InternalError } : error;
}
