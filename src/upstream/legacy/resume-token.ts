/**
 * What it takes to take up an exchange again after its holder's memory was lost, as a text that
 * the holder keeps and does not read.
 */

import { tryJson } from "../../lib/try-json.ts";
import { isObject, isRequestId, type RequestId } from "../../protocol/json-rpc.ts";

export interface ResumePoint {
  /** The request's id on this hop. Absent for what belongs to no request. */
  readonly request?: RequestId;
  /** The client's own progress token. */
  readonly progressToken?: RequestId;
  /** The upstream's event after which its stream goes on. */
  readonly lastEventId?: string;
  /** The id of the question that the message is. */
  readonly ask?: RequestId;
}

/** @returns `undefined` when there is nothing in it that could be taken up. */
export function writeResumeToken(ticket: ResumePoint): string | undefined {
  if (ticket.lastEventId === undefined && ticket.ask === undefined) return undefined;
  return JSON.stringify(ticket);
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

/** Whether it leads to a stream that can be taken up. */
export function isResumable(ticket: string | undefined): boolean {
  const { request, lastEventId } = readResumeToken(ticket ?? "");
  return request !== undefined && lastEventId !== undefined;
}
