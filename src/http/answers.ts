/** The HTTP answers that the front doors share, so that the same thing is always said alike. */

import { type KeepAliveOptions, withKeepAlive } from "../lib/keep-alive.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { ErrorObject, JsonRpcMessage, RequestId } from "../protocol/json-rpc.ts";
import { KEEP_ALIVE, SSE_HEADERS } from "../protocol/sse.ts";

export function json(
  body: JsonRpcMessage,
  status = 200,
  headers?: Record<string, string>,
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
  });
}

/** A JSON-RPC error; without an id where none could be read, for `null` is in no MCP schema. */
export function rpcError(
  status: number,
  error: ErrorObject,
  id?: RequestId,
  headers?: Record<string, string>,
): Response {
  const body = id === undefined ? { error } : { id, error };
  return json({ jsonrpc: "2.0", ...body }, status, headers);
}

export function accepted(): Response {
  return new Response(null, { status: 202 });
}

/** A stream that ends without a response: what a request has to be answered with that gets none. */
export function emptyStream(): Response {
  return new Response("", { headers: SSE_HEADERS });
}

/** The same bytes for an id that is unknown, forged, expired, deleted or somebody else's. */
export function sessionNotFound(): Response {
  return rpcError(404, { code: ErrorCode.SessionNotFound, message: "Session not found" });
}

export function methodNotAllowed(allow: string): Response {
  const error = { code: ErrorCode.Transport, message: `Method not allowed; use ${allow}` };
  return rpcError(405, error, undefined, { Allow: allow });
}

/** Every stream that goes out: kept alive, and with the headers that keep it flowing. */
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
