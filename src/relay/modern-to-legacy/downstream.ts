/**
 * One request of a modern client, as it hears of its call at a legacy server. What a request says of
 * itself holds for it alone: a call may have several, one for each round (2026-07-28, MRTR).
 */

import type { Call } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type RequestId } from "../../protocol/json-rpc.ts";
import { toModernNotice } from "../../protocol/revisions/translate-notices.ts";
import { isLoud, type LogLevel } from "../../protocol/log-levels.ts";

/** What a request says of itself. Plain data. */
export interface Wishes {
  /** What its client can be asked. */
  readonly capabilities: JsonObject;
  /** Without one, it hears of no progress. */
  readonly progressToken?: RequestId;
  /** Without one, it hears no log messages (2026-07-28, logging: MUST NOT). */
  readonly logLevel?: LogLevel;
}

export interface Downstream extends Wishes {
  /** @returns when the client has room for more. */
  notify(notice: Call): Promise<void>;
}

/** @returns `undefined` for what is not for this request. */
export function noticeFor({ progressToken, logLevel }: Wishes, notice: Call): Call | undefined {
  const told = toModernNotice(notice);
  switch (told?.method) {
    case "notifications/progress":
      // The server knows the token of the first request alone.
      return progressToken === undefined
        ? undefined
        : { ...told, params: { ...told.params, progressToken } };
    case "notifications/message": {
      const level = isObject(told.params) ? told.params["level"] : undefined;
      return logLevel !== undefined && isLoud(level, logLevel) ? told : undefined;
    }
    default:
      return told;
  }
}
