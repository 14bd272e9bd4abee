/** `logging/setLevel` where several servers are one: judged here, since nobody else speaks for all. */

import type { Params } from "../../protocol/json-rpc.ts";
import { isLogLevel } from "../../protocol/log-levels.ts";

/** @returns `undefined` for what is no level (2025-11-25, logging: -32602). */
export function levelIn(params: Params | undefined): string | undefined {
  const level = params?.["level"];
  return isLogLevel(level) ? level : undefined;
}
