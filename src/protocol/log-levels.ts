/** The severities of log messages (RFC 5424), as every revision has them. */

import { ErrorCode } from "./error-codes.ts";
import { errorReply, type Reply } from "./json-rpc.ts";

/** From the least severe to the most. */
const LOG_LEVELS = [
  ...(["debug", "info", "notice", "warning"] as const),
  ...(["error", "critical", "alert", "emergency"] as const),
] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** For error messages. */
export const LOG_LEVEL_NAMES = LOG_LEVELS.join(", ");

export function isLogLevel(value: unknown): value is LogLevel {
  return (LOG_LEVELS as readonly unknown[]).includes(value);
}

/** True when a message of this level is at or above the wanted level. */
export function isLoud(level: unknown, wanted: LogLevel): boolean {
  // A message without a known level is of no revision.
  return isLogLevel(level) && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(wanted);
}

/** @returns the least severe of the levels; `undefined` when there is none. */
export function lowest(levels: Iterable<LogLevel>): LogLevel | undefined {
  const wanted = new Set(levels);
  return LOG_LEVELS.find((level) => wanted.has(level));
}

/** The reply to `logging/setLevel` with an unknown level (2025-11-25, logging: -32602). */
export function noSuchLevel(): Reply {
  const message = `params.level must be one of ${LOG_LEVEL_NAMES}`;
  return errorReply(ErrorCode.InvalidParams, message);
}
