/** The log's record of the requests that a stream answers, so that none of them is left open. */

import { tryJson } from "../lib/try-json.ts";
import {
  isObject,
  isRequestId,
  type JsonRpcRequest,
  type RequestId,
} from "../protocol/json-rpc.ts";

export function writeRecord(requests: readonly JsonRpcRequest[]): string {
  return JSON.stringify(requests.map(({ id }) => id));
}

/**
 * @param events yields the data of every event of the stream. It is not called where the stream
 *   answers one request: such a stream ends with its answer.
 * @returns the requests that have no answer yet.
 */
export function unanswered(
  record: string | undefined,
  events: () => Iterable<string>,
): RequestId[] {
  const ids = tryJson(record ?? "");
  const open = new Set(Array.isArray(ids) ? ids.filter(isRequestId) : []);
  for (const data of open.size > 1 ? events() : []) {
    const message = tryJson(data);
    const isAnswer = isObject(message) && !("method" in message);
    if (isAnswer && isRequestId(message["id"])) open.delete(message["id"]);
  }
  return [...open];
}
