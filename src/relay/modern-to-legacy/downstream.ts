/**
 * One request of a modern client, which receives the notifications of its call at a legacy server. A
 * call may have several requests, one for each round; the declarations of each hold for it alone
 * (2026-07-28, MRTR).
 */

import type { Call } from "../../protocol/exchange.ts";
import type { JsonObject, RequestId } from "../../protocol/json-rpc.ts";
import { toModernNotice } from "../../protocol/revisions/translate-notices.ts";
import { isLoud, type LogLevel } from "../../protocol/log-levels.ts";

/** The declarations in the `_meta` of a request. Plain data. */
export interface RequestDeclarations {
  /** The client's capabilities: the questions that it can be asked. */
  readonly capabilities: JsonObject;
  /** Without one, the request receives no progress. */
  readonly progressToken?: RequestId;
  /** Without one, the request receives no log messages (2026-07-28, logging: MUST NOT). */
  readonly logLevel?: LogLevel;
}

export interface Downstream extends RequestDeclarations {
  /**
   * @param resumeToken resumes the server's stream after this notification.
   * @returns when the client has room for more.
   */
  notify(notice: Call, resumeToken?: string): Promise<void>;
}

/** @returns `undefined` for a notification that this request does not receive. */
export function noticeFor(
  { progressToken, logLevel }: RequestDeclarations,
  notice: Call,
): Call | undefined {
  const translated = toModernNotice(notice);
  switch (translated?.method) {
    case "notifications/progress":
      // The server knows the token of the first request alone.
      return progressToken === undefined
        ? undefined
        : { ...translated, params: { ...translated.params, progressToken } };
    case "notifications/message": {
      const level = translated.params?.level;
      return logLevel !== undefined && isLoud(level, logLevel) ? translated : undefined;
    }
    default:
      return translated;
  }
}
