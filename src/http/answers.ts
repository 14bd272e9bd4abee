/** The HTTP responses that all transports share. */

import { type KeepAliveOptions, withKeepAlive } from "../lib/keep-alive.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import {
  type ErrorObject,
  errorResponse,
  type JsonRpcMessage,
  type RequestId,
} from "../protocol/json-rpc.ts";
import { KEEP_ALIVE, SSE_HEADERS } from "../protocol/sse.ts";

export function json(
  body: JsonRpcMessage,
  status = 200,
  headers?: Record<string, string>,
): Response {
  return jsonText(JSON.stringify(body), status, headers);
}

/** @param body is JSON already. */
export function jsonText(body: string, status: number, headers?: Record<string, string>): Response {
  return new Response(body, {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
  });
}

export function rpcError(
  status: number,
  error: ErrorObject,
  id?: RequestId,
  headers?: Record<string, string>,
): Response {
  return json(errorResponse(error, id), status, headers);
}

export function accepted(): Response {
  return new Response(null, { status: 202 });
}

/** A stream that ends without a response: the answer to a cancelled request. */
export function emptyStream(): Response {
  return new Response("", { headers: SSE_HEADERS });
}

/** The same bytes for an id that is unknown, forged, expired, deleted or another client's. */
export function sessionNotFound(): Response {
  return rpcError(404, { code: ErrorCode.SessionNotFound, message: "Session not found" });
}

export function methodNotAllowed(allow: string): Response {
  const error = { code: ErrorCode.Transport, message: `Method not allowed; use ${allow}` };
  return rpcError(405, error, undefined, { Allow: allow });
}

/** An SSE response with keep-alives, and with the headers that stop proxies from buffering it. */
export function eventStream(
  body: ReadableStream<Uint8Array>,
  keepAliveSeconds: number,
  options: Pick<KeepAliveOptions, "preamble" | "onCancel"> = {},
): Response {
  const kept = withKeepAlive(body, {
    ...options,
    filler: KEEP_ALIVE,
    intervalMs: keepAliveSeconds * 1000,
  });
  return new Response(kept, { headers: SSE_HEADERS });
}
