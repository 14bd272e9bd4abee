/**
 * A token that resumes an exchange after its holder lost its memory: a text that the holder keeps
 * and does not read.
 */

import { tryJson } from "../../lib/try-json.ts";
import { isObject, isRequestId, type RequestId } from "../../protocol/json-rpc.ts";

export interface ResumePoint {
  /** The request's id on this hop. Absent for a message of the standalone stream. */
  readonly request?: RequestId;
  /** The client's own progress token. */
  readonly progressToken?: RequestId;
  /** The upstream's event after which its stream resumes. */
  readonly lastEventId?: string;
  /** The id of the message, if it is a request of the server. */
  readonly ask?: RequestId;
}

/** @returns `undefined` when the point has neither a stream to resume nor a request to answer. */
export function writeResumeToken(point: ResumePoint): string | undefined {
  if (point.lastEventId === undefined && point.ask === undefined) return undefined;
  return JSON.stringify(point);
}

export function readResumeToken(text: string): ResumePoint {
  const value = tryJson(text);
  if (!isObject(value)) return {};
  const { request, progressToken, lastEventId, ask } = value;
  return {
    ...(isRequestId(request) ? { request } : {}),
    ...(isRequestId(progressToken) ? { progressToken } : {}),
    ...(typeof lastEventId === "string" ? { lastEventId } : {}),
    ...(isRequestId(ask) ? { ask } : {}),
  };
}

/** True when the token leads to a stream that can be resumed. */
export function isResumable(resumeToken: string | undefined): boolean {
  const { request, lastEventId } = readResumeToken(resumeToken ?? "");
  return request !== undefined && lastEventId !== undefined;
}
