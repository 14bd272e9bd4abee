/** `logging/setLevel` where several servers are one: judged here, since nobody else speaks for all. */

import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type Params, type Reply } from "../../protocol/json-rpc.ts";

const LEVELS = [
  ...["debug", "info", "notice", "warning"],
  ...["error", "critical", "alert", "emergency"],
] as const;

/** @returns `undefined` for what is no level (2025-11-25, logging: -32602). */
export function levelIn(params: Params | undefined): string | undefined {
  return LEVELS.find((level) => level === params?.["level"]);
}

export function noSuchLevel(): Reply {
  const message = `params.level must be one of ${LEVELS.join(", ")}`;
  return errorReply(ErrorCode.InvalidParams, message);
}
