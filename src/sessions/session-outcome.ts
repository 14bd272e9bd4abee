/**
 * How a session answers what a front door hands it: plain data and streams, for it crosses from
 * a Durable Object to a Worker, where exceptions lose their shape.
 */

import type { ErrorObject, JsonRpcResponse, RequestId } from "../protocol/json-rpc.ts";

export type SessionOutcome =
  /** Only responses and notifications were sent: 202. */
  | { readonly kind: "accepted" }
  | { readonly kind: "json"; readonly body: JsonRpcResponse }
  | ({ readonly kind: "stream" } & Opened)
  /** The request was cancelled before anything was said of it: nothing will be (cancellation). */
  | { readonly kind: "cancelled" }
  /** There is no such session: never opened, deleted, or expired. */
  | { readonly kind: "unknown" }
  | RefusedRequest;

/**
 * The frames of a stream. That its reader has gone cannot be seen from the other side of an RPC
 * boundary before something is written, so whoever reads it says so, with its name.
 */
export interface Opened {
  readonly body: ReadableStream<Uint8Array>;
  readonly reader: string;
  /** When the client opened it, for the session's holder to know it from a newer reader. */
  readonly openedAt: number;
  /** The event id before the first event: where the stream is taken up if it breaks before that. */
  readonly start: string;
}

export interface RefusedRequest {
  readonly kind: "refused";
  readonly status: 400 | 409 | 429;
  readonly id?: RequestId;
  readonly error: ErrorObject;
}

export function refuseRequest(
  status: RefusedRequest["status"],
  code: number,
  message: string,
  id?: RequestId,
): RefusedRequest {
  const error = { code, message };
  return id === undefined
    ? { kind: "refused", status, error }
    : { kind: "refused", status, id, error };
}
